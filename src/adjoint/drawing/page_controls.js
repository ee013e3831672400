// --- time ------------------------------------------------------------------------------------------------------------
function wake() { if (!pending && renderer) { pending = true; requestAnimationFrame(tick); } }
function changed() { stale = true; wake(); }
let tween = null;
function tick(now) {
  pending = false;
  const passed = last === null ? 0 : Math.min(0.1, (now - last) / 1000);
  last = now;
  if (state.playing) {
    state.time += passed * state.speed;
    if (state.time >= data.end) {
      state.rest += state.time - data.end;
      state.time = data.end;
      if (!state.loop) play(false);
      else if (state.rest > 0.8) { state.rest = 0; state.time = data.start; }
    }
    stale = true;
  }
  if (tween) tween(now);
  if (stale) { stale = false; draw(); showNumbers(); }
  if (state.playing || tween) wake(); else if (!pending) last = null;
}
function play(on) {
  state.playing = on && data.end > data.start;
  if (state.playing && state.time >= data.end) state.time = data.start;
  byId("play").classList.toggle("on", state.playing);
  changed();
}
function seek(time) { state.time = Math.max(data.start, Math.min(data.end, time)); state.rest = 0; changed(); }

// --- mouse, touch and keys -------------------------------------------------------------------------------------------
const inside = window.parent !== window;  // a page inside another: the outer one scrolls until this one is clicked
function nearest(x, y, within) {
  let best = null;
  if (state.show.handles) for (const actor of actors) {
    if (actor.moves || actor.state === "hidden") continue;
    const base = baseOf(actor);
    actor.robot.place(chosenQ(actor), 0, base);
    for (const frame of actor.robot.handles) {
      const p = column(actor.robot.frame(frame, base), 3), [px, py] = onScreen(p), d = Math.hypot(px - x, py - y);
      if (d < within) { within = d; best = { actor, frame, point: p }; }
    }
  }
  return best;
}
function runAt(x, y) {  // the robot of a batch whose base or tips are near a point of the screen
  let best = null, within = 28;
  actors.forEach((actor, k) => {
    if (actor.runs < 2 || actor.state === "hidden" || !stage.apart) return;
    for (let run = 0; run < actor.runs; run++) {
      const { robot } = actor, base = baseOf(actor, run);
      robot.place(actor.q, run * robot.nq, base);
      for (const p of [column(base, 3), ...robot.tips.map((tip) => column(robot.frame(tip, base), 3))]) {
        const [px, py] = onScreen(p), d = Math.hypot(px - x, py - y);
        if (d < within) { within = d; best = [k, run]; }
      }
    }
  });
  return best;
}
function pulled(dx, dy, at) {  // the motion in space, at the depth of a point, of some pixels on the screen
  const V = seenFrom.view, depth = onScreen(at)[2], scale = 2 * depth * seenFrom.spread / seenFrom.height;
  return [0, 1, 2].map((c) => scale * (V[4 * c] * dx - V[4 * c + 1] * dy));
}
function grab(found) {
  const { actor, frame } = found, k = actors.indexOf(actor);
  if (k !== state.active) activate(k);
  tween = null;
  actor.robot.place(chosenQ(actor));
  state.grabbed = { ...found, turn: actor.robot.frame(frame) };
  state.near = found;
  state.tip = toolChoice.value = frame;
}
function drag(dx, dy) {
  const { actor, frame } = state.grabbed, base = baseOf(actor);
  state.grabbed.point = plus(state.grabbed.point, pulled(dx, dy, state.grabbed.point));
  const goal = state.grabbed.turn.slice(), p = moved(inverse(base), state.grabbed.point);
  [goal[3], goal[7], goal[11]] = p;
  pull(actor, frame, goal);
}
function pull(actor, frame, goal) {
  const turning = state.keepTurn && actor.robot.freedom(frame) >= 6 ? 0.35 : 0, q = chosenQ(actor).slice();
  const error = reach(actor.robot, q, frame, goal, { turning, size: stage.detail });
  chosenQ(actor).set(q);
  changed();
  return error;
}
function listen() {
  const fingers = new Map();
  let wakened = false, pressed = null;
  if (inside) canvas.classList.add("still");
  canvas.onpointerdown = (e) => {
    canvas.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    wakened = true;
    canvas.classList.remove("still");
    const within = e.pointerType === "touch" ? 32 : 18;
    const found = fingers.size === 1 && e.button === 0 ? nearest(e.clientX, e.clientY, within) : null;
    if (found) grab(found);
    pressed = found || fingers.size > 1 ? null : [e.clientX, e.clientY];
    canvas.classList.add("held");
    changed();
  };
  canvas.onpointermove = (e) => {
    const before = fingers.get(e.pointerId);
    if (!before) {
      const near = nearest(e.clientX, e.clientY, 18);
      if (near?.frame === state.near?.frame && near?.actor === state.near?.actor) return;
      state.near = near;
      canvas.classList.toggle("near", Boolean(near));
      changed();
      return;
    }
    const dx = e.clientX - before[0], dy = e.clientY - before[1], camera = state.camera;
    if (state.grabbed) drag(dx, dy);
    else if (fingers.size === 2) {
      const [, other] = [...fingers].find(([id]) => id !== e.pointerId);
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      zoomBy(apart([e.clientX, e.clientY]) / Math.max(1, apart(before)));
      panBy(dx / 2, dy / 2);
    } else if (e.shiftKey || e.buttons & 6) panBy(dx, dy);
    else {
      camera.turn -= dx / 160;
      camera.tilt = Math.max(-0.3, Math.min(1.5, camera.tilt + dy / 160));
    }
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    changed();
  };
  canvas.onpointerup = canvas.onpointercancel = (e) => {
    fingers.delete(e.pointerId);
    state.grabbed = null;
    const still = pressed && Math.hypot(e.clientX - pressed[0], e.clientY - pressed[1]) < 4;
    const clicked = still && e.type === "pointerup" ? runAt(...pressed) : null;
    pressed = null;
    if (clicked) choose(...clicked);
    if (e.pointerType === "touch") state.near = null;
    canvas.classList.remove("held");
    changed();
  };
  canvas.oncontextmenu = (e) => e.preventDefault();
  canvas.ondblclick = (e) => { if (!nearest(e.clientX, e.clientY, 18)) resetView(); };
  canvas.addEventListener("wheel", (e) => {
    if (inside && !wakened && !e.ctrlKey) return;
    e.preventDefault();
    zoomBy(Math.exp(-e.deltaY * (e.ctrlKey ? 0.01 : 0.0015)));
  }, { passive: false });
  window.addEventListener("blur", () => { wakened = false; if (inside) canvas.classList.add("still"); });
  document.addEventListener("keydown", (e) => {
    if (/^(INPUT|SELECT|BUTTON)$/.test(e.target.tagName) || !actors.some((a) => a.moves)) return;
    if (e.key === " ") { e.preventDefault(); play(!state.playing); }
    const step = { ArrowLeft: -0.04, ArrowRight: 0.04 }[e.key];
    if (step) { play(false); seek(state.time + step); }
  });
  window.addEventListener("resize", changed);
  canvas.addEventListener("webglcontextlost", (e) => e.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => location.reload());
  byId("play").onclick = () => play(!state.playing);
  byId("scrub").oninput = () => {
    play(false);
    seek(data.start + Number(byId("scrub").value) * (data.end - data.start));
  };
  byId("loop").onclick = () => {
    state.loop = !state.loop;
    byId("loop").setAttribute("aria-pressed", String(state.loop));
  };
  byId("speed").onchange = () => { state.speed = Number(byId("speed").value); };
  byId("toggle").onclick = () => openPanel(byId("panel").classList.contains("closed"));
}
function panBy(dx, dy) {
  const { camera } = state;
  camera.pan = plus(camera.pan, pulled(dx, dy, seenFrom.at), -1);
}
function zoomBy(factor) { state.camera.zoom = Math.max(0.2, Math.min(60, state.camera.zoom * factor)); changed(); }
function openPanel(on) {
  byId("panel").classList.toggle("closed", !on);
  byId("toggle").setAttribute("aria-expanded", String(on));
  byId("toggle").textContent = on ? "✕" : "☰";
  changed();
}
const system = matchMedia("(prefers-color-scheme: dark)");
function dress() {
  state.dark = state.theme ? state.theme === "dark" : system.matches;
  document.documentElement.classList.toggle("dark", state.dark);
  changed();
}

// --- the page --------------------------------------------------------------------------------------------------------
function matrix(T) { return [[...T.slice(0, 4)], [...T.slice(4, 8)], [...T.slice(8, 12)], [0, 0, 0, 1]]; }
function subtitle(runs) {  // the line below the title
  const joints = robots[0].coordinates.length;
  if (runs > actors.length) return `${runs} robots`;
  if (actors.length > 1) return "";
  return actors[0].name !== data.title ? actors[0].name : `${joints} joint${joints === 1 ? "" : "s"}`;
}
function now(k) {  // the actor number k, at the time of the page
  if (actors[k].moves) actors[k].at(state.time);
  return actors[k];
}
async function begin() {
  document.title = byId("title").textContent = data.title;
  setUp(await arraysOfPage());
  const moves = actors.some((a) => a.moves), runs = actors.reduce((s, a) => s + a.runs, 0);
  document.body.classList.toggle("moving", moves);
  byId("about").textContent = subtitle(runs);
  runPanel();
  if (moves) plotPanel(); else jointPanel();
  toolPanel();
  showPanel();
  listingPanel();
  legend();
  listen();
  system.addEventListener("change", dress);
  dress();
  openPanel(window.innerWidth > 760 && window.innerHeight > 420);
  play(moves && !matchMedia("(prefers-reduced-motion: reduce)").matches);
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await drawn();
  if (listing && window.innerWidth > 640) {  // the robots stand beside the text, not behind it
    panBy(byId("listing").offsetWidth / 2, 0);
    changed();
    await drawn();
  }
}
window.adjoint = {
  ready: begin().catch((error) => {
    element("div", document.body, error.message, { id: "sorry" });
    throw error;
  }),
  get line() { return listing?.lit ?? 0; }, get time() { return state.time; }, get start() { return data.start; }, get end() { return data.end; },
  get playing() { return state.playing; }, get measured() { return { ...measured }; },
  play: () => play(true), pause: () => play(false), seek,
  q: (actor = state.active, run = actors[actor].run) => {
    const { q, robot } = now(actor);
    return [...q.slice(run * robot.nq, (run + 1) * robot.nq)];
  },
  setQ, choose,
  placements: (actor = state.active, run = actors[actor].run) => {  // (n, 4, 4) in the base, as adjoint.forward_kinematics gives them
    const { robot, q } = now(actor), T = robot.place(q, run * robot.nq);
    return Array.from({ length: robot.n }, (_, i) => matrix(T.slice(12 * i, 12 * i + 12)));
  },
  prop: (name) => {  // where a thing beside the robots is (4, 4)
    const found = props.find((p) => p.name === name);
    if (!found) throw new RangeError(`there is no '${name}' beside the robots`);
    placeAll();
    return matrix(propPlace(found));
  },
  frame: (name, actor = state.active) => {
    const { robot } = now(actor), k = robot.frames.findIndex((f) => f.name === name);
    if (k < 0) throw new RangeError(`robot '${robot.name}' has no frame '${name}'`);
    robot.place(chosenQ(actors[actor]));
    return matrix(robot.frame(k));
  },
  reach: (name, T, actor = state.active) => {  // inverse kinematics: the frame goes to T (4, 4) as far as it can
    const k = actors[actor].robot.frames.findIndex((f) => f.name === name);
    return pull(actors[actor], k, Float64Array.from(T.slice(0, 3).flat()));
  },
  screen: (point, actor = state.active) => onScreen(moved(baseOf(actors[actor]), point)).slice(0, 2),
  show: (what, on) => { state.show[what] = on; changed(); },
  camera: (change) => { Object.assign(state.camera, change); changed(); return { ...state.camera }; },
  panel: openPanel,
  theme: (name) => { state.theme = name; dress(); },
};
