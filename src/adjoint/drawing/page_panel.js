// --- configurations --------------------------------------------------------------------------------------------------
function setQ(q, k = state.active) {
  const actor = actors[k];
  const { name, nq } = actor.robot;
  if (q.length !== nq) throw new RangeError(`q has ${q.length} numbers; robot '${name}' needs ${nq}`);
  chosenQ(actor).set(q);
  changed();
}
function glide(goal) {  // to another configuration, in half a second
  const actor = actors[state.active], from = chosenQ(actor).slice(), began = performance.now();
  tween = (now) => {
    const s = Math.min(1, (now - began) / 500), part = s * s * (3 - 2 * s);
    const q = from.map((x, i) => x + part * (goal[i] - x));
    for (const k of actor.quats) {
      let alike = 0;
      for (let c = 0; c < 4; c++) alike += from[k + c] * goal[k + c];
      for (let c = 0; c < 4; c++) q[k + c] = (1 - part) * from[k + c] + (alike < 0 ? -part : part) * goal[k + c];
    }
    if (s >= 1) { tween = null; setQ(goal); } else setQ(q);
  };
  wake();
}
function randomQ(actor) {
  const { robot } = actor, goal = chosenQ(actor).slice();
  for (const { at, units } of robot.coordinates) {
    if (units.length > 1) continue;  // bases and balls stay
    const wide = units === "t" ? Math.PI : 0.5 * stage.detail;
    const low = robot.lower[at] ?? Math.max(-wide, (robot.upper[at] ?? wide) - 2 * wide);
    goal[at] = low + Math.random() * ((robot.upper[at] ?? low + 2 * wide) - low);
  }
  return goal;
}
const tenths = (x) => (Math.round(10 * x) / 10 + 0).toFixed(1);  // without "-0.0"
function rollPitchYaw(R) {  // R = Rz(yaw) Ry(pitch) Rx(roll)
  return [Math.atan2(R[9], R[10]), Math.atan2(-R[8], Math.hypot(R[9], R[10])), Math.atan2(R[4], R[0])];
}
function quatOf(rollPitchYaw) {
  const [a, b, c] = rollPitchYaw.map((t) => Math.cos(t / 2)), [x, y, z] = rollPitchYaw.map((t) => Math.sin(t / 2));
  return [a * b * c + x * y * z, x * b * c - a * y * z, a * y * c + x * b * z, a * b * z - x * y * c];
}

// --- the panel -------------------------------------------------------------------------------------------------------
const sliders = [];
function section(title) {
  const made = element("section", byId("panel")), head = element("h2", made);
  element("span", head, title);
  return [made, head];
}
function button(parent, text, does, pressed) {
  const made = element("button", parent, text);
  if (pressed !== undefined) made.setAttribute("aria-pressed", String(pressed));
  made.onclick = () => does(made);
  return made;
}
function toggled(parent, text, get, set) {
  const press = (made) => {
    set(!get());
    made.setAttribute("aria-pressed", String(get()));
    changed();
  };
  return button(parent, text, press, get());
}
function jointPanel() {
  const [box, head] = section("Joints"), actor = () => actors[state.active];
  button(head, "reset", () => glide(chosenQ({ ...actor(), q: actor().start }).slice()));
  button(head, "random", () => glide(randomQ(actor())));
  const list = element("div", box);
  state.fillSliders = () => {
    list.replaceChildren();
    sliders.length = 0;
    const { coordinates } = actor().robot;
    const rows = coordinates.flatMap((joint) => [...joint.units].map((unit, c) => ({ ...joint, unit, c })));
    for (const row of rows.slice(0, 80)) slider(list, row);
    if (rows.length > 80) element("p", list, `and ${rows.length - 80} more`, { className: "hint" });
  };
  state.fillSliders();
}
// Coordinate number c of a joint whose q starts at `at`: a length "l", an angle "t", or one of roll, pitch, yaw, "r".
function slider(list, { joint, at, units, unit, c }) {
  const { robot, start } = actors[state.active], k = at + c, wide = unit === "l" ? stage.detail : Math.PI;
  const part = { l: "xyz"[c], t: "angle", r: ["roll", "pitch", "yaw"][c % 3] }[unit];
  const [factor, lengthUnit] = lengths(), scale = unit === "l" ? factor : DEGREE;
  const low = unit === "r" ? -Math.PI : robot.lower[k] ?? Math.min(-wide, start[k] - wide);
  const high = unit === "r" ? Math.PI : robot.upper[k] ?? Math.max(wide, low + 2 * wide);
  const name = units.length > 1 ? `${joint} ${part}` : joint;
  const row = element("div", list, undefined, { className: "joint" });
  const label = element("label", row, name, { title: name }), value = element("output", row);
  const input = element("input", row, undefined, { type: "range", min: low * scale, max: high * scale, step: "any" });
  row.onpointerenter = input.onfocus = () => { state.joint = robot.joints.indexOf(joint); changed(); };
  row.onpointerleave = input.onblur = () => { state.joint = -1; changed(); };
  input.id = `joint-${k}`;
  label.htmlFor = input.id;
  const quat = at + (units === "lllrrr" ? 3 : 0);
  const angles = (q) => {
    const J = new Float64Array(12);
    jointMotion(2, q, quat, J);
    return rollPitchYaw(J);
  };
  const read = (q) => (unit === "r" ? angles(q)[c % 3] : q[k]);
  input.oninput = () => {
    const q = chosenQ(actors[state.active]), x = Number(input.value) / scale;
    tween = null;
    if (unit === "r") q.set(quatOf(angles(q).map((a, i) => (i === c % 3 ? x : a))), quat); else q[k] = x;
    changed();
  };
  sliders.push(() => {
    const x = read(chosenQ(actors[state.active]));
    if (document.activeElement !== input || Math.abs(Number(input.value) - x * scale) > 1e-6) input.value = x * scale;
    value.textContent = unit === "l" ? `${tenths(x * factor)} ${lengthUnit}` : `${tenths(x * DEGREE)}°`;
    input.style.setProperty("--part", `${100 * (x - low) / (high - low || 1)}%`);
  });
}
let poseFields = [], poseTitle, toolChoice;
function toolPanel() {
  const [box, head] = section("Pose of"), numbers = element("div", box, undefined, { className: "numbers" });
  poseTitle = head.firstChild;
  toolChoice = element("select", head, undefined, { ariaLabel: "frame" });
  toolChoice.style.maxWidth = "150px";
  toolChoice.onchange = () => { state.tip = Number(toolChoice.value); changed(); };
  state.fillFrames = () => {
    const { robot } = actors[state.active];
    toolChoice.replaceChildren(...robot.frames.map((frame, k) => element("option", null, frame.name, { value: k })));
    state.tip = robot.tips[robot.tips.length - 1] ?? 0;
    toolChoice.value = state.tip;
  };
  state.fillFrames();
  poseFields = ["x", "y", "z", "roll", "pitch", "yaw"].map((name) => {
    const row = element("div", numbers);
    element("i", row, name);
    return element("span", row);
  });
  const hint = "Pull an orange ball: inverse kinematics follows.";
  if (actors.some((a) => !a.moves && a.robot.handles.length)) element("p", box, hint, { className: "hint" });
}
function showPanel() {
  const [box] = section("Show"), chips = element("div", box, undefined, { className: "chips" });
  const moves = actors.some((a) => a.moves), last = moves ? { trail: "trail" } : { handles: "handles" };
  const flags = { frames: "frames", axes: "joint axes", mass: "center of mass", names: "names", ...last };
  for (const [key, text] of Object.entries(flags))
    toggled(chips, text, () => state.show[key], (on) => { state.show[key] = on; });
  const apart = () => state.arrange !== "together", put = (on) => {
    state.arrange = on ? "side by side" : "together";
    arrange();
    state.fillRuns?.();
  };
  if (!props.length && actors.reduce((s, a) => s + a.runs, 0) > 1) toggled(chips, "side by side", apart, put);
  if (!moves) toggled(chips, "keep orientation", () => state.keepTurn, (on) => { state.keepTurn = on; });
  button(chips, "reset view", resetView);
}
function resetView() {
  Object.assign(state.camera, { turn: TURN, tilt: firstTilt(), zoom: 1, pan: [0, 0, 0] });
  changed();
}
let runField = null;
function runPanel() {  // which run of a batch the panel speaks of
  if (!actors.some((a) => a.runs > 1)) return;
  const [box, head] = section("Run shown"), hint = element("p", box, undefined, { className: "hint" });
  runField = element("input", head, undefined, { type: "number", id: "run", min: 0, step: 1, ariaLabel: "run" });
  runField.onchange = () => choose(state.active, Number(runField.value));
  state.fillRuns = () => {
    const { runs, run, name } = actors[state.active], whose = actors.length > 1 ? ` of ${name}` : "";
    Object.assign(runField, { max: runs - 1, value: run });
    hint.textContent = `Curves, pose and overlays are those of run ${run}${whose}, from 0 to ${runs - 1}. ` +
      (state.arrange === "together" ? "It is drawn in full." : "Click a robot to choose it.");
  };
  state.fillRuns();
}
function choose(k, run) {  // the run whose curves, pose and overlays are shown
  const actor = actors[k];
  tween = null;
  actor.run = Math.max(0, Math.min(actor.runs - 1, Math.round(run) || 0));
  if (k !== state.active) activate(k);
  state.fillRuns?.();
  state.fillKeys?.();
  changed();
}
function activate(k) {  // the panel shows the joints and frames of another actor
  state.active = k;
  state.fillRuns?.();
  state.fillSliders?.();
  state.fillFrames();
}
function legend() {
  if (actors.length < 2) return;
  actors.forEach((actor, k) => {
    const made = button(byId("legend"), "", () => {
      const order = ["solid", "ghost", "hidden"];
      if (!actor.moves && state.active !== k) activate(k);
      else { actor.state = order[(order.indexOf(actor.state) + 1) % 3]; made.dataset.state = actor.state; }
      changed();
    });
    if (actor.color) element("i", made).style.background = actor.color;
    element("span", made, actor.name);
    made.dataset.state = actor.state;
    made.title = actor.moves ? "solid, ghost, hidden" : "its joints; then solid, ghost, hidden";
  });
}
function showNumbers() {
  for (const update of sliders) update();
  if (poseFields.length) {
    const { robot } = actors[state.active], [factor, unit] = lengths();
    robot.place(chosenQ(actors[state.active]));
    const T = robot.frame(state.tip), angles = rollPitchYaw(T).map((t) => `${tenths(t * DEGREE)}°`);
    const shown = [...column(T, 3).map((x) => tenths(factor * x)), ...angles];
    poseTitle.textContent = `Pose [${unit}] of`;
    poseFields.forEach((field, k) => { field.textContent = shown[k]; });
  }
  if (!actors.some((a) => a.moves)) return;
  byId("time").textContent = `${state.time.toFixed(2)} s`;
  const part = (state.time - data.start) / (data.end - data.start || 1);
  byId("scrub").value = part;
  byId("scrub").style.setProperty("--part", `${100 * part}%`);
  drawPlot();
  showListing();
}

// --- plots -----------------------------------------------------------------------------------------------------------
let plotCanvas = null, plotted = 0, plotKey = "", plotImage = null;
function plotPanel() {
  const names = [...new Set(actors.flatMap((a) => a.curves.map((c) => c.name)))];
  if (!names.length) return;
  const [box, head] = section("Plot"), choice = element("select", head, undefined, { ariaLabel: "quantity" });
  names.forEach((name, k) => element("option", choice, name, { value: k }));
  choice.onchange = () => { plotted = Number(choice.value); keys(); changed(); };
  plotCanvas = element("canvas", box, undefined, { id: "plot" });
  const list = element("div", box, undefined, { id: "keys" });
  const keys = () => {
    list.replaceChildren(...curvesNow()[0].curve.labels.map((label, k) => {
      const key = element("span", null);
      element("i", key).style.background = CURVES[k % CURVES.length];
      key.append(label);
      return key;
    }));
    if (actors.length > 1) for (const { actor } of curvesNow())
      element("span", list, `${["──", "╌╌", "┈┈", "─·"][actors.indexOf(actor) % 4]} ${actor.name}`);
    const missing = curvesNow().filter(({ actor, curve }) => !valuesOf(actor, curve).length);
    for (const { actor } of missing) element("span", list, `This page has no curves of run ${actor.run}.`);
  };
  state.fillKeys = keys;
  keys();
  const scrub = (e) => {
    const b = plotCanvas.getBoundingClientRect(), part = (e.clientX - b.left - LEFT) / (b.width - LEFT - 4);
    play(false);
    seek(data.start + part * (data.end - data.start));
  };
  plotCanvas.onpointerdown = (e) => { plotCanvas.setPointerCapture(e.pointerId); scrub(e); };
  plotCanvas.onpointermove = (e) => { if (e.buttons) scrub(e); };
}
const LEFT = 38;
function curvesNow() {  // those of the chosen quantity, of all actors that have it
  const name = [...new Set(actors.flatMap((a) => a.curves.map((c) => c.name)))][plotted];
  return actors.flatMap((actor) => actor.curves.filter((c) => c.name === name).map((curve) => ({ actor, curve })));
}
function valuesOf({ run, frames }, { values, labels }) {  // of the run that is shown; none if the page has none of it
  return values.subarray(run * frames * labels.length, (run + 1) * frames * labels.length);
}
function drawPlot() {
  if (!plotCanvas || !plotCanvas.clientWidth) return;
  const ratio = window.devicePixelRatio || 1, w = plotCanvas.clientWidth, h = plotCanvas.clientHeight;
  const pen = plotCanvas.getContext("2d");
  const key = [w, h, ratio, plotted, state.dark, actors.map((a) => [a.state, a.run])].join();
  const x = (t) => LEFT + (w - LEFT - 4) * (t - data.start) / (data.end - data.start);
  if (key !== plotKey) {  // the curves are drawn once; then only the cursor moves
    plotKey = key;
    plotImage = document.createElement("canvas");
    plotImage.width = w * ratio; plotImage.height = h * ratio;
    const page = plotImage.getContext("2d");
    page.scale(ratio, ratio);
    drawCurves(page, w, h, x);
  }
  if (plotCanvas.width !== plotImage.width || plotCanvas.height !== plotImage.height)
    Object.assign(plotCanvas, { width: plotImage.width, height: plotImage.height });
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, plotCanvas.width, plotCanvas.height);
  pen.drawImage(plotImage, 0, 0);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = color("--ink");  // no curve has it
  pen.fillRect(x(state.time) - 0.75, 8, 1.5, h - 26);
}
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function drawCurves(pen, w, h, x) {
  const all = curvesNow(), shown = all.filter(({ actor }) => actor.state !== "hidden");
  let low = Infinity, high = -Infinity;
  for (const { actor, curve } of all) for (const v of valuesOf(actor, curve)) if (Number.isFinite(v)) {
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  if (!(high >= low)) [low, high] = [0, 1];
  if (high - low < 1e-9 * Math.max(1, Math.abs(high))) [low, high] = [low - 0.5, high + 0.5];
  const raw = (high - low) / 4, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= raw) ?? raw;
  low = Math.floor(low / step + 1e-9) * step;
  high = Math.ceil(high / step - 1e-9) * step;
  const y = (v) => 8 + (h - 26) * (high - v) / (high - low);
  pen.font = "10px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (let v = low; v < high + step / 2; v += step) {
    pen.fillStyle = color("--line");
    pen.fillRect(LEFT, y(v) - 0.5, w - LEFT - 4, 1);
    pen.fillStyle = color("--quiet");
    pen.textAlign = "right";
    pen.fillText(String(Number(v.toPrecision(4))), LEFT - 4, y(v));
  }
  pen.fillText(`${Number(data.end.toPrecision(4))} s`, w - 4, h - 8);
  pen.textAlign = "left";
  pen.fillText(`${all[0].curve.unit}`, LEFT, h - 8);
  pen.lineJoin = "round";
  shown.forEach(({ actor, curve }) => {
    const k = curve.labels.length, number = actors.indexOf(actor);
    pen.setLineDash([[], [5, 3], [2, 2], [8, 3, 2, 3]][number % 4]);
    for (let i = 0; i < k; i++) {
      pen.beginPath();
      for (let f = 0; f < actor.frames; f++) {
        const v = curve.values[(actor.run * actor.frames + f) * k + i];
        if (Number.isFinite(v)) pen.lineTo(x(actor.t[f]), y(v));
      }
      pen.strokeStyle = CURVES[i % CURVES.length];
      pen.lineWidth = 1.4;
      pen.stroke();
    }
  });
}
