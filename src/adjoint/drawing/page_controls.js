// --- the numbers of the page --------------------------------------------------------------------------------------------
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
async function arraysOfPage() {  // base64 of what zlib compressed
  const bytes = Uint8Array.from(atob(byId("arrays").textContent), (c) => c.charCodeAt(0));
  const whole = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
  const types = { f8: Float64Array, f4: Float32Array, u2: Uint16Array, u4: Uint32Array };
  return ({ type, at, size }) => new types[type](whole, at, size);
}
function element(tag, parent, text, more = {}) {
  const made = Object.assign(document.createElement(tag), more);
  if (text !== undefined) made.textContent = text;  // never HTML: names come from files
  parent?.append(made);
  return made;
}
const lengths = () => (actors[state.active].unit === "m" ? [1000, "mm"] : [1, actors[state.active].unit]);  // how they are shown
const rgb = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255);
const ACCENT = data.colors[0], DEGREE = 180 / Math.PI;
const CURVES = data.colors;
const THEMES = {
  light: { shade: 0.42, blur: 4.5, sky: [0.60, 0.62, 0.66], ground: [0.34, 0.33, 0.32], floor: [0.955, 0.955, 0.95, 1], lines: [0.70, 0.71, 0.73, 0.75] },
  dark: { shade: 0.62, blur: 4.5, sky: [0.38, 0.41, 0.47], ground: [0.17, 0.17, 0.19], floor: [0.135, 0.145, 0.16, 1], lines: [0.36, 0.38, 0.42, 0.7] },
};

// --- the scene ------------------------------------------------------------------------------------------------------------
const state = {
  time: data.start, playing: false, speed: 1, loop: true, rest: 0, arrange: data.arrange, active: 0, tip: null, keepTurn: true,
  show: { handles: true, frames: false, axes: false, mass: false, names: false, trail: true }, dark: false, theme: null,
  camera: { turn: -0.95, tilt: 0.36, zoom: 1, pan: [0, 0, 0] }, grabbed: null, near: null,
};
let robots, actors, renderer, stage, canvas, overlay, pending = false, stale = true, last = null;
const measured = { kinematics: 0, draw: 0, pictures: 0 };

function setUp(read) {
  canvas = byId("view");
  renderer = new Renderer(canvas);
  robots = data.robots.map((known) => new Robot(known, read));
  const meshes = robots.map((robot) => robot.parts.map((part) => ({ ...part, ...cornersOf(part, read) })));
  actors = data.actors.map((known) => new Actor(known, robots, read));
  actors.forEach((actor, k) => {
    const { robot, runs } = actor;
    actor.state = k === 0 || !actor.moves || state.arrange !== "together" ? "solid" : "ghost";
    actor.start = actor.q.slice();
    actor.places = new Float32Array(12 * runs * (robot.n + 1));  // those of the base, then those of each body
    actor.buffer = renderer.placements();
    renderer.place(actor.buffer, actor.places);
    actor.solids = [];
    actor.boxes = [];
    for (let body = -1; body < robot.n; body++) {
      const own = meshes[actor.robotNumber = data.actors[k].robot].filter((part) => part.body === body);
      for (const clear of [false, true]) {
        const some = own.filter((part) => (part.color[3] < 1) === clear);
        if (some.length) actor.solids.push({ body, clear, solid: renderer.solid(some, actor.buffer, 48 * runs * (body + 1)) });
      }
      if (own.length) actor.boxes.push({ body, ...boxOf(own) });
    }
    if (actor.balls.length) {
      actor.ballBuffer = renderer.placements();
      renderer.place(actor.ballBuffer, new Float32Array(12 * runs * actor.balls.length));
      const gray = { ...ballMesh(), color: [0.5, 0.53, 0.57, 1] };
      actor.ballSolids = actor.balls.map((_, b) => renderer.solid([gray], actor.ballBuffer, 48 * runs * b));
    }
  });
  for (const actor of actors) setPlinth(actor);
  overlay = { buffer: renderer.placements() };
  renderer.place(overlay.buffer, new Float32Array(12));
  overlay.ball = renderer.solid([{ ...ballMesh(), color: [1, 1, 1, 1] }], overlay.buffer, 0);
  for (const actor of actors) actor.size = sizeOf(actor);
  arrange();
}
function setPlinth(actor) {
  const box = actor.boxes.find(({ body }) => body < 0);
  if (!box) return;
  const corners = Array.from({ length: 8 }, (_, k) => moved(actor.robot.up, [0, 1, 2].map((c) => (k >> c & 1 ? box.high[c] : box.low[c]))));
  const [x, y, z] = [0, 1, 2].map((c) => [Math.min(...corners.map((p) => p[c])), Math.max(...corners.map((p) => p[c]))]);
  const r = 0.42 * Math.min(x[1] - x[0], y[1] - y[0]), solid = turned([[0, 0], [1.25 * r, 0], [1.25 * r, 0.04], [r, 0.06], [r, 1], [0, 1]], 48);
  for (let i = 0; i < solid.position.length; i += 3) { solid.position[i] += (x[0] + x[1]) / 2; solid.position[i + 1] += (y[0] + y[1]) / 2; }
  actor.plinthTop = z[0];
  actor.plinthBuffer = renderer.placements();
  renderer.place(actor.plinthBuffer, new Float32Array(12 * actor.runs));
  actor.plinth = renderer.solid([{ ...solid, color: [0.42, 0.45, 0.49, 1] }], actor.plinthBuffer, 0);
}
function boxOf(parts) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (const { position } of parts) for (let i = 0; i < position.length; i++) {
    low[i % 3] = Math.min(low[i % 3], position[i]); high[i % 3] = Math.max(high[i % 3], position[i]);
  }
  return { low, high };
}
function sizeOf(actor) {  // the box around some of its runs at some of its times, each where its base is 0
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], { robot } = actor;
  const grow = (p) => { for (let c = 0; c < 3; c++) { low[c] = Math.min(low[c], p[c]); high[c] = Math.max(high[c], p[c]); } };
  const runs = Math.min(actor.runs, 40), frames = Math.min(actor.frames, 40);
  for (let f = 0; f < frames; f++) {
    actor.at(actor.t[Math.floor(f * (actor.frames - 1) / Math.max(1, frames - 1))]);
    for (let r = 0; r < runs; r++) {
      robot.place(actor.q, robot.nq * Math.floor(r * actor.runs / runs), robot.up);
      for (const box of actor.boxes) for (let k = 0; k < 8; k++)
        grow(moved(robot.body(box.body, robot.up), [0, 1, 2].map((c) => (k >> c & 1 ? box.high[c] : box.low[c]))));
      robot.tips.forEach((k) => grow(column(robot.frame(k, robot.up), 3)));
    }
  }
  grow(column(robot.up, 3));
  for (const { centers } of actor.balls) for (let i = 0; i < centers.length; i += 3 * Math.ceil(centers.length / 3000))
    grow(moved(robot.up, centers.subarray(i, i + 3)));
  actor.at(state.time);
  return { low, high };
}
function arrange() {  // where each run stands, and the stage that holds all
  const apart = state.arrange !== "together", width = (k) => Math.max(...actors.map((a) => a.size.high[k] - a.size.low[k]));
  const total = actors.reduce((s, a) => s + a.runs, 0), columns = Math.ceil(Math.sqrt(total)), gap = apart ? (total > 50 ? 0.62 : 1.06) * Math.max(width(0), width(1)) : 0;
  let place = 0;
  for (const actor of actors) actor.lift = apart && actors.length > 1 ? -Math.min(0, actor.plinthTop ?? 0) : 0;  // each stands on the floor
  const low = [Infinity, Infinity, Infinity], high = low.map((x) => -x);
  for (const actor of actors) {
    actor.shift = new Float64Array(2 * actor.runs);
    for (let r = 0; r < actor.runs; r++, place++) {
      const rows = Math.ceil(total / columns), i = Math.floor(place / columns), j = place % columns;
      const inRow = i === rows - 1 ? total - columns * i : columns;
      actor.shift[2 * r] = gap * (j - (inRow - 1) / 2);
      actor.shift[2 * r + 1] = gap * (i - (rows - 1) / 2);
      for (let c = 0; c < 3; c++) {
        const s = c < 2 ? actor.shift[2 * r + c] : actor.lift;
        low[c] = Math.min(low[c], actor.size.low[c] + s); high[c] = Math.max(high[c], actor.size.high[c] + s);
      }
    }
  }
  const height = Math.max(high[2] - low[2], 1e-3), detail = Math.max(...[0, 1, 2].map(width), 1e-3);
  const ground = Math.min(0, ...actors.map((a) => (a.plinthTop ?? 0) + a.lift)), floor = low[2] > ground - 0.02 * height ? ground : low[2] - 0.05 * height;
  low[2] = Math.min(low[2], floor);
  const center = low.map((x, c) => (x + high[c]) / 2), radius = Math.hypot(...low.map((x, c) => (high[c] - x) / 2));
  const power = 10 ** Math.floor(Math.log10(detail)), cell = [1, 2, 5].map((m) => m * power).filter((m) => m <= detail).pop() ?? power;
  stage = { floor, center, radius: Math.max(radius, 1e-3), detail, cell: gap || cell, apart, low, high, many: apart && total > 50 };
  for (const actor of actors) if (actor.plinth) placePlinths(actor);
  resetView();
}

// --- placing and drawing --------------------------------------------------------------------------------------------------
function placeAll() {
  const before = performance.now();
  for (const actor of actors) {
    const { robot, runs, places, shift, q } = actor, base = robot.up.slice(), count = 12 * runs;
    if (actor.moves) actor.at(state.time);
    for (let r = 0; r < runs; r++) {
      base[3] = shift[2 * r]; base[7] = shift[2 * r + 1]; base[11] = actor.lift;
      const T = robot.place(q, r * robot.nq, base);
      for (let e = 0; e < 12; e++) places[12 * r + e] = base[e];
      for (let i = 0; i < robot.n; i++) {
        const to = count * (i + 1) + 12 * r;
        for (let e = 0; e < 12; e++) places[to + e] = T[12 * i + e];
      }
    }
    renderer.place(actor.buffer, places);
    if (actor.balls.length) placeBalls(actor);
  }
  measured.kinematics = performance.now() - before;
}
function placePlinths(actor) {  // what a robot that is held stands on, if its floor is deeper
  const { runs, shift } = actor, top = actor.plinthTop + actor.lift, values = new Float32Array(12 * runs);
  for (let r = 0; r < runs; r++) values.set([1, 0, 0, shift[2 * r], 0, 1, 0, shift[2 * r + 1], 0, 0, top - stage.floor, stage.floor], 12 * r);
  renderer.place(actor.plinthBuffer, values);
}
function placeBalls(actor) {
  const { runs, frames, balls, robot, shift } = actor, values = new Float32Array(12 * runs * balls.length), [a, part] = actor.frame(state.time);
  balls.forEach(({ centers, radii }, b) => {
    for (let r = 0; r < runs; r++) {
      const i = 3 * (r * frames + a), next = part > 0 ? 3 : 0;
      const p = moved(robot.up, [0, 1, 2].map((c) => centers[i + c] + part * (centers[i + next + c] - centers[i + c]))), s = radii[r];
      values.set([s, 0, 0, p[0] + shift[2 * r], 0, s, 0, p[1] + shift[2 * r + 1], 0, 0, s, p[2] + actor.lift], 12 * (b * runs + r));
    }
  });
  renderer.place(actor.ballBuffer, values);
}
function baseOf(actor, run = 0) {
  const base = actor.robot.up.slice();
  base[3] = actor.shift[2 * run]; base[7] = actor.shift[2 * run + 1]; base[11] = actor.lift;
  return base;
}
function solidsNow() {
  const found = [];
  for (const actor of actors) {
    if (actor.state === "hidden") continue;
    const together = !stage.apart && actor.runs > 1, tint = actor.color ? [...rgb(actor.color), actors.length > 1 ? 0.72 : 1] : [0, 0, 0, 0];
    const opacity = actor.state === "ghost" ? 0.34 : 1, ghost = Math.max(0.08, Math.min(0.3, 6 / actor.runs));
    const layer = actors.indexOf(actor), none = [0, 0, 0, 0];
    for (const { solid, clear, body } of actor.solids) {
      const add = (first, count, opacity) => found.push({ solid, first, count, layer, tint: body < 0 ? none : tint, opacity: clear ? Math.min(opacity, 0.99) : opacity });
      if (together && body >= 0) { add(0, 1, opacity); add(1, actor.runs - 1, opacity * ghost); }
      else add(0, together ? 1 : actor.runs, opacity);
    }
    const count = together ? 1 : actor.runs;
    if (actor.plinth && stage.floor < actor.plinthTop + actor.lift - 1e-3 * stage.detail) found.push({ solid: actor.plinth, first: 0, count, layer, tint: none, opacity });
    for (const solid of actor.ballSolids ?? []) found.push({ solid, first: 0, count, layer, tint: none, opacity });
  }
  return found;
}
function segment(values, a, b, color, alpha = 1) { values.push(...a, ...b, ...color, alpha); }
function overlays() {  // lines and balls that explain: frames, axes, the center of mass, handles, trails
  const frames = [], axes = [], trails = [], balls = [], labels = [], s = stage.detail, { show } = state;
  for (const actor of actors) {
    if (actor.state === "hidden") continue;
    const { robot } = actor, base = baseOf(actor);
    robot.place(actor.q, 0, base);
    if (show.frames || show.names) for (let i = -1; i < robot.n; i++) {
      const T = robot.body(i, base), p = column(T, 3);
      if (show.frames) for (let c = 0; c < 3; c++) segment(frames, p, plus(p, column(T, c), 0.09 * s), [[0.88, 0.25, 0.22], [0.25, 0.68, 0.30], [0.22, 0.45, 0.92]][c]);
      if (show.names) labels.push([p, i < 0 ? robot.frames[0].name : robot.bodies[i]]);
    }
    if (show.axes) for (let i = 0; i < robot.n; i++) {
      const axis = robot.axis(i, base);
      if (!axis) continue;
      const color = axis.turns ? [0.55, 0.33, 0.85] : [0.10, 0.62, 0.62], end = plus(axis.point, axis.along, 0.16 * s);
      segment(axes, plus(axis.point, axis.along, -0.12 * s), end, color);
      const side = unit(cross(axis.along, Math.abs(axis.along[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0])), back = plus(end, axis.along, -0.035 * s);
      segment(axes, end, plus(back, side, 0.014 * s), color); segment(axes, end, plus(back, side, -0.014 * s), color);
    }
    const center = show.mass ? robot.centerOfMass() : null;
    if (center) {
      balls.push([center, 0.016 * s, [0.93, 0.75, 0.1], 0.95]);
      segment(axes, center, [center[0], center[1], stage.floor], [0.85, 0.66, 0.05], 0.8);
    }
    if (show.trail && actor.moves && actor.state !== "hidden") trailOf(actor, base, trails);
    if (show.handles && !actor.moves) robot.tips.forEach((k) => {
      const chosen = state.near?.actor === actor && state.near.frame === k, p = column(robot.frame(k, base), 3);
      balls.push([p, (chosen ? 0.026 : 0.018) * s, rgb(ACCENT), chosen ? 0.95 : 0.72]);
    });
  }
  return { lines: [{ values: trails, thick: 1.3, hidden: 0.35 }, { values: axes, thick: 1.2 }, { values: frames, thick: 1.6, hidden: 0.45 }], balls, labels };
}
function trailOf(actor, base, values) {
  const { robot } = actor;
  if (!actor.ways) {  // where the tips of the first run are, in the base
    const time = state.time;
    actor.ways = robot.tips.slice(-6).map(() => new Float64Array(3 * actor.frames));
    for (let f = 0; f < actor.frames; f++) {
      actor.at(actor.t[f]);
      robot.place(actor.q);
      robot.tips.slice(-6).forEach((k, j) => actor.ways[j].set(column(robot.frame(k), 3), 3 * f));
    }
    actor.at(time);
    robot.place(actor.q, 0, base);
  }
  const color = rgb(actor.color ?? ACCENT), [a] = actor.frame(state.time);
  actor.ways.forEach((way, j) => {
    let before = null;
    for (let f = 0; f <= a; f++) {
      const p = moved(base, way.subarray(3 * f, 3 * f + 3));
      if (before) segment(values, before, p, color, 0.85);
      before = p;
    }
    if (before) segment(values, before, column(robot.frame(robot.tips.slice(-6)[j], base), 3), color, 0.85);
  });
}
function look() {  // the camera: it looks at the middle of what the panel leaves free
  const ratio = Math.min(window.devicePixelRatio || 1, 2), w = Math.max(1, window.innerWidth), h = Math.max(1, window.innerHeight);
  const size = [Math.round(w * ratio), Math.round(h * ratio)];
  if (canvas.width !== size[0] || canvas.height !== size[1]) { canvas.width = size[0]; canvas.height = size[1]; }
  const panel = byId("panel").classList.contains("closed") ? null : byId("panel").getBoundingClientRect(), phone = w <= 640;
  const right = panel && !phone ? w - panel.left : 0, bottom = panel && phone ? h - panel.top : actors.some((a) => a.moves) ? 64 : 0;
  const top = phone ? 40 : 0, free = [Math.max(80, w - right), Math.max(80, h - bottom - top)];
  const { turn, tilt, zoom, pan } = state.camera, field = 0.56, aspect = free[0] / free[1], spread = Math.tan(field / 2);
  const away = unit([Math.cos(tilt) * Math.cos(turn), Math.cos(tilt) * Math.sin(turn), Math.sin(tilt)]), at = plus(stage.center, pan);
  const far = fitting(away, spread, aspect) / zoom, eye = plus(at, away, far), focal = free[1] / h / spread;
  const near = Math.max(0.02 * stage.radius, far - 12 * stage.radius), end = far + 14 * stage.radius;
  const project = Float32Array.of(focal * h / w, 0, 0, 0, 0, focal, 0, 0, right / w, -(bottom - top) / h, -(end + near) / (end - near), -1, 0, 0, -2 * end * near / (end - near), 0);
  const view = looking(eye, at, [0, 0, 1]);
  return { camera: times4(project, view), eye, window: [w * ratio, h * ratio].map((x) => x / 2 * 1), width: w, height: h, far, spread: spread * h / free[1], ratio, view };
}
function fitting(away, spread, aspect) {  // how far away all corners of the stage are seen
  const x = unit(cross([0, 0, 1], away)), y = cross(away, x), { low, high, center } = stage;
  let far = 0.1 * stage.radius;
  for (let k = 0; k < 8; k++) {
    const p = plus([0, 1, 2].map((c) => (k >> c & 1 ? high[c] : low[c])), center, -1);
    far = Math.max(far, dot(p, away) + 1.04 * Math.max(Math.abs(dot(p, y)) / spread, Math.abs(dot(p, x)) / (spread * aspect)));
  }
  return far;
}
let seenFrom = null;
function onScreen(p, { camera: C, width, height } = seenFrom) {  // pixels from the upper left corner
  const [x, y, , w] = [0, 1, 2, 3].map((r) => C[r] * p[0] + C[4 + r] * p[1] + C[8 + r] * p[2] + C[12 + r]);
  return [(x / w + 1) / 2 * width, (1 - y / w) / 2 * height, w];
}
function draw() {
  placeAll();
  const before = performance.now(), scene = seenFrom = look(), extra = overlays(), values = new Float32Array(12 * Math.max(1, extra.balls.length));
  extra.balls.forEach(([p, r], k) => values.set([r, 0, 0, p[0], 0, r, 0, p[1], 0, 0, r, p[2]], 12 * k));
  renderer.place(overlay.buffer, values);
  const solids = solidsNow();
  extra.balls.forEach(([, , color, opacity], k) => solids.push({ solid: overlay.ball, first: k, count: 1, tint: [...color, 1], opacity, front: true }));
  renderer.draw({ ...scene, stage, theme: THEMES[state.dark ? "dark" : "light"], solids, lines: extra.lines });
  write(extra.labels);
  measured.draw = performance.now() - before;
  measured.pictures++;
}
function write(labels) {
  const box = byId("labels");
  while (box.children.length > labels.length) box.lastChild.remove();
  labels.forEach(([p, text], k) => {
    const span = box.children[k] ?? element("span", box), [x, y, w] = onScreen(p);
    if (span.textContent !== text) span.textContent = text;
    span.style.transform = `translate(${x + 8}px, ${y - 8}px)`;
    span.style.display = w > 0 ? "" : "none";
  });
}

// --- time -------------------------------------------------------------------------------------------------------------------
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
const ICONS = { play: "M3 1 13 7 3 13Z", pause: "M2 1h4v12H2ZM8 1h4v12H8Z" };
function play(on) {
  state.playing = on && data.end > data.start;
  if (state.playing && state.time >= data.end) state.time = data.start;
  const button = byId("play"), svg = document.createElementNS("http:" + "//www.w3.org/2000/svg", "svg"), path = document.createElementNS(svg.namespaceURI, "path");
  svg.setAttribute("viewBox", "0 0 14 14");
  path.setAttribute("d", state.playing ? ICONS.pause : ICONS.play);
  svg.append(path);
  button.replaceChildren(svg);
  changed();
}
function seek(time) { state.time = Math.max(data.start, Math.min(data.end, time)); state.rest = 0; changed(); }

// --- configurations ------------------------------------------------------------------------------------------------------------
function setQ(q, k = state.active) {
  const actor = actors[k];
  if (q.length !== actor.robot.nq) throw new RangeError(`q has ${q.length} numbers; robot '${actor.robot.name}' needs ${actor.robot.nq}`);
  actor.q.set(q, 0);
  changed();
}
function glide(goal) {  // to another configuration, in half a second
  const actor = actors[state.active], from = actor.q.slice(0, actor.robot.nq), began = performance.now();
  tween = (now) => {
    const s = Math.min(1, (now - began) / 500), part = s * s * (3 - 2 * s), q = from.map((x, i) => x + part * (goal[i] - x));
    for (const k of actor.quats) {
      let alike = 0;
      for (let c = 0; c < 4; c++) alike += from[k + c] * goal[k + c];
      for (let c = 0; c < 4; c++) q[k + c] = (1 - part) * from[k + c] + (alike < 0 ? -part : part) * goal[k + c];
    }
    if (s >= 1) { tween = null; setQ(goal); } else setQ(q);
  };
  wake();
}
function randomQ({ robot, q }) {
  const goal = q.slice(0, robot.nq);
  for (const { at, units } of robot.coordinates) [...units].forEach((unit, c) => {
    if (units.length > 1) return;  // bases and balls stay
    const wide = unit === "t" ? Math.PI : 0.5 * stage.detail, low = robot.lower[at + c] ?? Math.max(-wide, (robot.upper[at + c] ?? wide) - 2 * wide);
    goal[at + c] = low + Math.random() * ((robot.upper[at + c] ?? low + 2 * wide) - low);
  });
  return goal;
}
function rollPitchYaw(R) { return [Math.atan2(R[9], R[10]), Math.atan2(-R[8], Math.hypot(R[9], R[10])), Math.atan2(R[4], R[0])]; }
function quatOf([roll, pitch, yaw]) {
  const [a, b, c] = [roll, pitch, yaw].map((x) => Math.cos(x / 2)), [x, y, z] = [roll, pitch, yaw].map((t) => Math.sin(t / 2));
  return [a * b * c + x * y * z, x * b * c - a * y * z, a * y * c + x * b * z, a * b * z - x * y * c];
}

// --- the panel ---------------------------------------------------------------------------------------------------------------
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
  return button(parent, text, (made) => { set(!get()); made.setAttribute("aria-pressed", String(get())); changed(); }, get());
}
function jointPanel() {
  const [box, head] = section("Joints"), actor = () => actors[state.active];
  button(head, "reset", () => glide(actor().start.slice(0, actor().robot.nq)));
  button(head, "random", () => glide(randomQ(actor())));
  const list = element("div", box);
  state.fillSliders = () => {
    list.replaceChildren();
    sliders.length = 0;
    const rows = actor().robot.coordinates.flatMap((joint) => [...joint.units].map((unit, c) => ({ ...joint, unit, c })));
    for (const row of rows.slice(0, 80)) slider(list, row);
    if (rows.length > 80) element("p", list, `and ${rows.length - 80} more`, { className: "hint" });
  };
  state.fillSliders();
}
function slider(list, { joint, at, units, unit, c }) {
  const { robot } = actors[state.active], wide = unit === "l" ? stage.detail : Math.PI, many = units.length > 1, part = { l: "xyz"[c], t: "angle", r: ["roll", "pitch", "yaw"][c % 3] }[unit];
  const [factor, lengthUnit] = lengths(), scale = unit === "l" ? factor : DEGREE, name = many ? `${joint} ${part}` : joint, k = at + c;
  const low = unit === "r" ? -Math.PI : robot.lower[k] ?? Math.min(-wide, actors[state.active].start[k] - wide), high = unit === "r" ? Math.PI : robot.upper[k] ?? Math.max(wide, low + 2 * wide);
  const row = element("div", list, undefined, { className: "joint" }), label = element("label", row, name, { title: name }), value = element("output", row);
  const input = element("input", row, undefined, { type: "range", min: low * scale, max: high * scale, step: "any" });
  input.id = `joint-${k}`;
  label.htmlFor = input.id;
  const quat = at + (units === "lllrrr" ? 3 : 0), angles = (q) => { const J = new Float64Array(12); jointMotion(2, q, quat, J); return rollPitchYaw(J); };
  const read = (q) => (unit === "r" ? angles(q)[c % 3] : q[k]);
  input.oninput = () => {
    const q = actors[state.active].q, x = Number(input.value) / scale;
    tween = null;
    if (unit === "r") q.set(quatOf(angles(q).map((a, i) => (i === c % 3 ? x : a))), quat); else q[k] = x;
    changed();
  };
  sliders.push(() => {
    const x = read(actors[state.active].q);
    if (document.activeElement !== input || Math.abs(Number(input.value) - x * scale) > 1e-6) input.value = x * scale;
    value.textContent = unit === "l" ? `${(x * factor).toFixed(1)} ${lengthUnit}` : `${(x * DEGREE).toFixed(1)}°`;
    input.style.setProperty("--part", `${100 * (x - low) / (high - low || 1)}%`);
  });
}
let poseFields = [], toolChoice;
function toolPanel() {
  const [box, head] = section("Pose of"), numbers = element("div", box, undefined, { className: "numbers" });
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
    element("i", row, name, { title: name.length > 1 ? "degrees" : lengths()[1] });
    return element("span", row);
  });
  if (!actors.every((a) => a.moves)) element("p", box, "Pull an orange ball: inverse kinematics follows.", { className: "hint" });
}
function showPanel() {
  const [box] = section("Show"), chips = element("div", box, undefined, { className: "chips" }), moves = actors.some((a) => a.moves);
  const flags = { frames: "frames", axes: "joint axes", mass: "center of mass", names: "names", ...(moves ? { trail: "trail" } : { handles: "handles" }) };
  for (const [key, text] of Object.entries(flags)) toggled(chips, text, () => state.show[key], (on) => { state.show[key] = on; });
  if (actors.reduce((s, a) => s + a.runs, 0) > 1) toggled(chips, "side by side", () => state.arrange !== "together", (on) => { state.arrange = on ? "side by side" : "together"; arrange(); });
  if (!moves) toggled(chips, "keep orientation", () => state.keepTurn, (on) => { state.keepTurn = on; });
  button(chips, "reset view", resetView);
}
function resetView() { Object.assign(state.camera, { turn: -0.95, tilt: stage.many ? 0.3 : 0.36, zoom: stage.many ? 2.2 : 1, pan: [0, 0, 0] }); changed(); }
function legend() {
  if (actors.length < 2) return;
  actors.forEach((actor, k) => {
    const made = button(byId("legend"), "", () => {
      const order = ["solid", "ghost", "hidden"];
      if (!actor.moves && state.active !== k) { state.active = k; state.fillSliders?.(); state.fillFrames(); }
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
    const { robot, q } = actors[state.active];
    robot.place(q);
    const T = robot.frame(state.tip), angles = rollPitchYaw(T);
    poseFields.forEach((field, k) => { field.textContent = k < 3 ? (lengths()[0] * T[4 * k + 3]).toFixed(1) : `${(angles[k - 3] * DEGREE).toFixed(1)}°`; });
  }
  if (!actors.some((a) => a.moves)) return;
  byId("time").textContent = `${state.time.toFixed(2)} s`;
  const part = (state.time - data.start) / (data.end - data.start || 1);
  byId("scrub").value = part;
  byId("scrub").style.setProperty("--part", `${100 * part}%`);
  drawPlot();
}

// --- plots ----------------------------------------------------------------------------------------------------------------------
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
    if (actors.length > 1) for (const { actor } of curvesNow()) element("span", list, `${["──", "╌╌", "┈┈", "─·"][actors.indexOf(actor) % 4]} ${actor.name}`);
  };
  keys();
  const scrub = (e) => {
    const b = plotCanvas.getBoundingClientRect();
    play(false);
    seek(data.start + (data.end - data.start) * Math.max(0, Math.min(1, (e.clientX - b.left - LEFT) / (b.width - LEFT - 4))));
  };
  plotCanvas.onpointerdown = (e) => { plotCanvas.setPointerCapture(e.pointerId); scrub(e); };
  plotCanvas.onpointermove = (e) => { if (e.buttons) scrub(e); };
}
const LEFT = 38;
function curvesNow() {  // those of the chosen quantity, of all actors that have it
  const name = [...new Set(actors.flatMap((a) => a.curves.map((c) => c.name)))][plotted];
  return actors.flatMap((actor) => actor.curves.filter((c) => c.name === name).map((curve) => ({ actor, curve })));
}
function drawPlot() {
  if (!plotCanvas || !plotCanvas.clientWidth) return;
  const ratio = window.devicePixelRatio || 1, w = plotCanvas.clientWidth, h = plotCanvas.clientHeight, pen = plotCanvas.getContext("2d");
  const key = [w, h, ratio, plotted, state.dark, actors.map((a) => a.state)].join();
  const x = (t) => LEFT + (w - LEFT - 4) * (t - data.start) / (data.end - data.start);
  if (key !== plotKey) {  // the curves are drawn once; then only the cursor moves
    plotKey = key;
    plotImage = document.createElement("canvas");
    plotImage.width = w * ratio; plotImage.height = h * ratio;
    const page = plotImage.getContext("2d");
    page.scale(ratio, ratio);
    drawCurves(page, w, h, x);
  }
  if (plotCanvas.width !== plotImage.width || plotCanvas.height !== plotImage.height) { plotCanvas.width = plotImage.width; plotCanvas.height = plotImage.height; }
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, plotCanvas.width, plotCanvas.height);
  pen.drawImage(plotImage, 0, 0);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = color("--accent");
  pen.fillRect(x(state.time) - 0.75, 8, 1.5, h - 26);
}
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function drawCurves(pen, w, h, x) {
  const all = curvesNow(), shown = all.filter(({ actor }) => actor.state !== "hidden");
  let low = Infinity, high = -Infinity;
  for (const { curve } of all) for (const v of curve.values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  if (!(high >= low)) [low, high] = [0, 1];
  if (high - low < 1e-9 * Math.max(1, Math.abs(high))) { low -= 0.5; high += 0.5; }
  const raw = (high - low) / 4, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= raw);
  low = Math.floor(low / step + 1e-9) * step; high = Math.ceil(high / step - 1e-9) * step;
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
      for (let f = 0; f < actor.frames; f++) if (Number.isFinite(curve.values[f * k + i])) pen.lineTo(x(actor.t[f]), y(curve.values[f * k + i]));
      pen.strokeStyle = CURVES[i % CURVES.length];
      pen.lineWidth = 1.4;
      pen.stroke();
    }
  });
}

// --- mouse, touch and keys ---------------------------------------------------------------------------------------------------------
const inside = window.parent !== window;  // a page inside another: the outer one scrolls until this one is clicked
function nearest(x, y, within) {
  let best = null;
  if (state.show.handles) for (const actor of actors) {
    if (actor.moves || actor.state === "hidden") continue;
    const base = baseOf(actor);
    actor.robot.place(actor.q, 0, base);
    for (const frame of actor.robot.tips) {
      const p = column(actor.robot.frame(frame, base), 3), [px, py] = onScreen(p), d = Math.hypot(px - x, py - y);
      if (d < within) { within = d; best = { actor, frame, point: p }; }
    }
  }
  return best;
}
function pulled(dx, dy, at) {  // the motion in space, at the depth of a point, of some pixels on the screen
  const V = seenFrom.view, depth = onScreen(at)[2], scale = 2 * depth * seenFrom.spread / seenFrom.height;
  return [0, 1, 2].map((c) => scale * (V[4 * c] * dx - V[4 * c + 1] * dy));
}
function drag(dx, dy) {
  const { actor, frame } = state.grabbed, base = baseOf(actor);
  state.grabbed.point = plus(state.grabbed.point, pulled(dx, dy, state.grabbed.point));
  const goal = state.grabbed.turn.slice(), p = moved(inverse(base), state.grabbed.point);
  [goal[3], goal[7], goal[11]] = p;
  pull(actor, frame, goal);
}
function pull(actor, frame, goal) {
  const joints = freedom(actor.robot, frame), turning = state.keepTurn && joints >= 6 ? 0.35 : 0, q = actor.q.slice(0, actor.robot.nq);
  const error = reach(actor.robot, q, frame, goal, { turning, size: stage.detail });
  actor.q.set(q, 0);
  changed();
  return error;
}
function freedom(robot, frame) {
  let count = 0;
  for (let i = robot.frames[frame].body; i >= 0; i = robot.parents[i]) count += robot.kinds[i] ? 0 : 1;
  return count;
}
function listen() {
  const fingers = new Map();
  let wakened = false;
  if (inside) canvas.classList.add("still");
  canvas.onpointerdown = (e) => {
    canvas.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    wakened = true;
    canvas.classList.remove("still");
    const found = fingers.size === 1 && e.button === 0 ? nearest(e.clientX, e.clientY, e.pointerType === "touch" ? 32 : 18) : null;
    if (found) {
      tween = null;
      found.actor.robot.place(found.actor.q);
      const k = actors.indexOf(found.actor);
      if (k !== state.active) { state.active = k; state.fillSliders?.(); state.fillFrames(); }
      state.grabbed = { ...found, turn: found.actor.robot.frame(found.frame) };
      state.tip = found.frame;
      toolChoice.value = state.tip;
      state.near = found;
    }
    canvas.classList.add("held");
    changed();
  };
  canvas.onpointermove = (e) => {
    const before = fingers.get(e.pointerId);
    if (!before) {
      const near = nearest(e.clientX, e.clientY, 18);
      if (near?.frame !== state.near?.frame || near?.actor !== state.near?.actor) { state.near = near; canvas.classList.toggle("near", Boolean(near)); changed(); }
      return;
    }
    const dx = e.clientX - before[0], dy = e.clientY - before[1], camera = state.camera;
    if (state.grabbed) drag(dx, dy);
    else if (fingers.size === 2) {
      const [, other] = [...fingers].find(([id]) => id !== e.pointerId), apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      zoomBy(apart([e.clientX, e.clientY]) / Math.max(1, apart(before)));
      camera.pan = plus(camera.pan, pulled(dx / 2, dy / 2, plus(stage.center, camera.pan)), -1);
    } else if (e.shiftKey || e.buttons & 6) camera.pan = plus(camera.pan, pulled(dx, dy, plus(stage.center, camera.pan)), -1);
    else { camera.turn -= dx / 160; camera.tilt = Math.max(-0.3, Math.min(1.5, camera.tilt + dy / 160)); }
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    changed();
  };
  canvas.onpointerup = canvas.onpointercancel = (e) => {
    fingers.delete(e.pointerId);
    state.grabbed = null;
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
    if (e.key === "ArrowLeft" || e.key === "ArrowRight") { play(false); seek(state.time + (e.key === "ArrowLeft" ? -1 : 1) / 25); }
  });
  window.addEventListener("resize", changed);
  canvas.addEventListener("webglcontextlost", (e) => e.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => location.reload());
  byId("play").onclick = () => play(!state.playing);
  byId("scrub").oninput = () => { play(false); seek(data.start + Number(byId("scrub").value) * (data.end - data.start)); };
  byId("loop").onclick = () => { state.loop = !state.loop; byId("loop").setAttribute("aria-pressed", String(state.loop)); };
  for (const [x, text] of [[0.1, "0.1×"], [0.25, "¼×"], [0.5, "½×"], [1, "1×"], [2, "2×"], [4, "4×"]]) element("option", byId("speed"), text, { value: x, selected: x === 1 });
  byId("speed").onchange = () => { state.speed = Number(byId("speed").value); };
  byId("toggle").onclick = () => openPanel(byId("panel").classList.contains("closed"));
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

// --- the page ------------------------------------------------------------------------------------------------------------------------
function matrix(T) { return [[...T.slice(0, 4)], [...T.slice(4, 8)], [...T.slice(8, 12)], [0, 0, 0, 1]]; }
async function begin() {
  document.title = byId("title").textContent = data.title;
  setUp(await arraysOfPage());
  const moves = actors.some((a) => a.moves), runs = actors.reduce((s, a) => s + a.runs, 0);
  document.body.classList.toggle("moving", moves);
  byId("about").textContent = runs > actors.length ? `${runs} robots` : actors.length > 1 ? "" : actors[0].name !== data.title ? actors[0].name : `${robots[0].coordinates.length} joint${robots[0].coordinates.length === 1 ? "" : "s"}`;
  if (moves) plotPanel(); else jointPanel();
  toolPanel();
  showPanel();
  legend();
  listen();
  system.addEventListener("change", dress);
  dress();
  openPanel(window.innerWidth > 760 && window.innerHeight > 420);
  play(moves && !matchMedia("(prefers-reduced-motion: reduce)").matches);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}
window.adjoint = {
  ready: begin().catch((error) => {
    element("div", document.body, error.message, { id: "sorry" });
    throw error;
  }),
  get time() { return state.time; }, get playing() { return state.playing; }, get measured() { return { ...measured }; },
  get start() { return data.start; }, get end() { return data.end; },
  play: () => play(true), pause: () => play(false), seek,
  q: (actor = state.active, run = 0) => { const { q, robot, moves } = actors[actor]; if (moves) actors[actor].at(state.time); return [...q.slice(run * robot.nq, (run + 1) * robot.nq)]; },
  setQ,
  placements: (actor = state.active, run = 0) => {  // (n, 4, 4) in the base, as adjoint.forward_kinematics gives them
    const { robot, q, moves } = actors[actor];
    if (moves) actors[actor].at(state.time);
    const T = robot.place(q, run * robot.nq);
    return Array.from({ length: robot.n }, (_, i) => matrix(T.slice(12 * i, 12 * i + 12)));
  },
  frame: (name, actor = state.active) => {
    const { robot, q } = actors[actor], k = robot.frames.findIndex((f) => f.name === name);
    if (k < 0) throw new RangeError(`robot '${robot.name}' has no frame '${name}'`);
    robot.place(q);
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
