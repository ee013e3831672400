// --- the numbers of the page -----------------------------------------------------------------------------------------
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
async function arraysOfPage() {  // base64 of what zlib compressed
  const bytes = Uint8Array.from(atob(byId("arrays").textContent), (c) => c.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const whole = await new Response(unpacked).arrayBuffer();
  const types = { f8: Float64Array, f4: Float32Array, u2: Uint16Array, u4: Uint32Array };
  return ({ type, at, size }) => new types[type](whole, at, size);
}
function element(tag, parent, text, more = {}) {
  const made = Object.assign(document.createElement(tag), more);
  if (text !== undefined) made.textContent = text;  // never HTML: names come from files
  parent?.append(made);
  return made;
}
function lengths() {  // the factor and the unit in which lengths are shown
  const { unit } = actors[state.active];
  return unit === "m" ? [1000, "mm"] : [1, unit];
}
const rgb = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255);
const ACCENT = data.colors[0], DEGREE = 180 / Math.PI;
const CURVES = data.colors;
const THEMES = {
  light: {
    shade: 0.42, blur: 4.5, sky: [0.60, 0.62, 0.66], ground: [0.34, 0.33, 0.32],
    floor: [0.955, 0.955, 0.95, 1], lines: [0.70, 0.71, 0.73, 0.75],
  },
  dark: {
    shade: 0.62, blur: 4.5, sky: [0.38, 0.41, 0.47], ground: [0.17, 0.17, 0.19],
    floor: [0.135, 0.145, 0.16, 1], lines: [0.36, 0.38, 0.42, 0.7],
  },
};

// --- the scene -------------------------------------------------------------------------------------------------------
const state = {
  time: data.start, playing: false, speed: 1, loop: true, rest: 0,
  arrange: data.arrange, active: 0,  // the number of the actor whose joints the panel shows
  tip: 0, keepTurn: true, grabbed: null, near: null,  // the frame whose pose is shown, and what the mouse holds
  joint: -1,  // the one whose slider is under the mouse
  show: { handles: true, frames: false, axes: false, mass: false, names: false, trail: true },
  camera: { turn: 0, tilt: 0, zoom: 1, pan: [0, 0, 0] }, dark: false, theme: null,
};
let robots, actors, props, propBuffer, renderer, stage, canvas, overlay, pending = false, stale = true, last = null;
const TURN = -0.95, TILT = 0.36, MANY_TILT = 0.62;  // of the first view; many robots are seen from higher
const measured = { kinematics: 0, draw: 0, pictures: 0 };

function setUp(read) {
  canvas = byId("view");
  renderer = new Renderer(canvas);
  robots = data.robots.map((known) => new Robot(known, read));
  const meshes = robots.map((robot) => robot.parts.map((part) => ({ ...part, ...cornersOf(part, read) })));
  actors = data.actors.map((known) => new Actor(known, robots, read));
  actors.forEach((actor, k) => {
    const { robot, runs } = actor;
    const oneWorld = data.props.length > 0 || data.listing;  // robots that work together are no ghosts of each other
    actor.state = k === 0 || !actor.moves || oneWorld || state.arrange !== "together" ? "solid" : "ghost";
    actor.start = actor.q.slice();
    actor.run = 0;  // the one whose curves, pose and overlays are shown
    actor.places = new Float32Array(12 * runs * (robot.n + 1));  // those of the base, then those of each body
    actor.buffer = renderer.placements();
    renderer.place(actor.buffer, actor.places);
    actor.solids = [];
    actor.boxes = [];
    for (let body = -1; body < robot.n; body++) {
      const own = meshes[data.actors[k].robot].filter((part) => part.body === body);
      for (const clear of [false, true]) {
        const some = own.filter((part) => (part.color[3] < 1) === clear), at = 48 * runs * (body + 1);
        if (some.length) actor.solids.push({ body, clear, solid: renderer.solid(some, actor.buffer, at) });
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
  setProps(read);
  overlay = { buffer: renderer.placements() };
  renderer.place(overlay.buffer, new Float32Array(12));
  overlay.ball = renderer.solid([{ ...ballMesh(), color: [1, 1, 1, 1] }], overlay.buffer, 0);
  for (const actor of actors) actor.size = sizeOf(actor);
  arrange();
}
function setProps(read) {
  props = data.props.map((known) => new Prop(known, read));
  if (!props.length) return;
  propBuffer = renderer.placements();
  renderer.place(propBuffer, new Float32Array(12 * props.length));
  props.forEach((prop, k) => {
    const piece = { ...cornersOf(prop, read), color: prop.color };
    prop.box = boxOf([piece]);
    prop.solid = renderer.solid([piece], propBuffer, 48 * k);
  });
}
function placeProps() {  // after the robots, which may hold some
  const values = new Float32Array(12 * props.length);
  props.forEach((prop, k) => values.set(propPlace(prop), 12 * k));
  renderer.place(propBuffer, values);
}
function propPlace(prop, time = state.time) {
  const own = prop.at(time), actor = actors[prop.actor];
  if (!actor) return own;
  const at = 12 * (actor.runs * (prop.body + 1) + actor.run);
  return product(actor.places.subarray(at, at + 12), own);
}
function propCorners() {  // of their boxes, at some of their times
  return props.filter((prop) => !actors[prop.actor]).flatMap((prop) => {
    const step = Math.ceil(prop.t.length / 50), corners = cornersOfBox(prop.box);
    return Array.from({ length: Math.ceil(prop.t.length / step) }, (_, f) => prop.at(prop.t[f * step]).slice())
      .flatMap((T) => corners.map((p) => moved(T, p)));
  });
}
function setPlinth(actor) {  // a column, for a robot whose base was drawn from its kinematics
  const box = actor.robot.plinth && actor.boxes.find(({ body }) => body < 0);
  if (!box) return;
  const corners = cornersOfBox(box).map((p) => moved(actor.robot.up, p)), along = (c) => corners.map((p) => p[c]);
  const [x, y, z] = [0, 1, 2].map((c) => [Math.min(...along(c)), Math.max(...along(c))]);
  const r = 0.42 * Math.min(x[1] - x[0], y[1] - y[0]), sides = actor.runs > 50 ? 16 : 48;
  const solid = turned([[0, 0], [1.25 * r, 0], [1.25 * r, 0.04], [r, 0.06], [r, 1], [0, 1]], sides);
  for (let i = 0; i < solid.position.length; i += 3) {
    solid.position[i] += (x[0] + x[1]) / 2;
    solid.position[i + 1] += (y[0] + y[1]) / 2;
  }
  actor.plinthTop = z[0];
  actor.plinthBuffer = renderer.placements();
  renderer.place(actor.plinthBuffer, new Float32Array(12 * actor.runs));
  actor.plinth = renderer.solid([{ ...solid, color: [0.42, 0.45, 0.49, 1] }], actor.plinthBuffer, 0);
}
const cornersOfBox = ({ low, high }) =>
  Array.from({ length: 8 }, (_, k) => [0, 1, 2].map((c) => (k >> c & 1 ? high[c] : low[c])));
function boxAround(points) {  // points is a function that calls its argument with every point
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  points((p) => {
    for (let c = 0; c < 3; c++) {
      low[c] = Math.min(low[c], p[c]);
      high[c] = Math.max(high[c], p[c]);
    }
  });
  return { low, high };
}
function boxOf(parts) {
  return boxAround((grow) => {
    for (const { position } of parts) for (let i = 0; i < position.length; i += 3) grow(position.subarray(i, i + 3));
  });
}
function sizeOf(actor) {  // the box around some of its runs at some of its times, each where its base is 0
  const { robot } = actor, runs = Math.min(actor.runs, 200), frames = Math.min(actor.frames, Math.ceil(1600 / runs));
  actor.cloud = [];
  const box = boxAround((add) => {
    const grow = (p) => { add(p); actor.cloud.push(p); };
    for (let f = 0; f < frames; f++) {
      actor.at(actor.t[Math.floor(f * (actor.frames - 1) / Math.max(1, frames - 1))]);
      for (let r = 0; r < runs; r++) {
        robot.place(actor.q, robot.nq * Math.floor(r * actor.runs / runs), robot.up);
        for (const own of actor.boxes) {
          const T = robot.body(own.body, robot.up);
          cornersOfBox(own).forEach((p) => grow(moved(T, p)));
        }
        robot.tips.forEach((k) => grow(column(robot.frame(k, robot.up), 3)));
      }
    }
    for (const { centers } of actor.balls) {
      const step = 3 * Math.ceil(centers.length / 3000);
      for (let i = 0; i < centers.length; i += step) grow(moved(robot.up, centers.subarray(i, i + 3)));
    }
    grow(column(robot.up, 3));
  });
  actor.at(state.time);
  return box;
}
function arrange() {  // where each run stands, and the stage that holds all
  const apart = state.arrange !== "together", total = actors.reduce((s, a) => s + a.runs, 0);
  const many = apart && total > 50, around = propCorners();
  const width = (k) => Math.max(...actors.map((a) => a.size.high[k] - a.size.low[k]));
  const gap = apart ? (many ? 0.62 : 1.06) * Math.max(width(0), width(1)) : 0;
  const columns = Math.ceil(Math.sqrt(total)), rows = Math.ceil(total / columns);
  let place = 0;
  const { low, high } = boxAround((grow) => {
    for (const actor of actors) {
      actor.lift = apart && actors.length > 1 ? -Math.min(0, actor.plinthTop ?? 0) : 0;  // each stands on the floor
      actor.shift = new Float64Array(2 * actor.runs);
      for (let r = 0; r < actor.runs; r++, place++) {
        const i = Math.floor(place / columns), inRow = i === rows - 1 ? total - columns * i : columns;
        const at = [gap * (place % columns - (inRow - 1) / 2), gap * (i - (rows - 1) / 2), actor.lift];
        actor.shift.set(at.slice(0, 2), 2 * r);
        grow(plus(actor.size.low, at));
        grow(plus(actor.size.high, at));
      }
    }
    around.forEach(grow);
  });
  const height = Math.max(high[2] - low[2], 1e-3), detail = Math.max(...[0, 1, 2].map(width), 1e-3);
  const ground = Math.min(0, ...actors.map((a) => (a.plinthTop ?? 0) + a.lift));
  const floor = low[2] > ground - 0.02 * height ? ground : low[2] - 0.05 * height;
  low[2] = Math.min(low[2], floor);
  const center = low.map((x, c) => (x + high[c]) / 2), radius = Math.hypot(...low.map((x, c) => (high[c] - x) / 2));
  const power = 10 ** Math.floor(Math.log10(detail)), round = [1, 2, 5].map((m) => m * power);
  const cell = gap || (round.filter((m) => m <= detail).pop() ?? power);  // of the grid on the floor
  const cloud = apart ? cornersOfBox({ low, high }) : [...actors.flatMap((a) => a.cloud), ...around];
  stage = { floor, center, radius: Math.max(radius, 1e-3), detail, cell, apart, cloud, many };
  for (const actor of actors) if (actor.plinth) placePlinths(actor);
  resetView();
}

// --- placing and drawing ---------------------------------------------------------------------------------------------
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
  if (props.length) placeProps();
  measured.kinematics = performance.now() - before;
}
function placePlinths(actor) {  // what a robot that is held stands on, if its floor is deeper
  const { runs, shift } = actor, top = actor.plinthTop + actor.lift, values = new Float32Array(12 * runs);
  for (let r = 0; r < runs; r++) {
    const [x, y] = shift.subarray(2 * r);
    values.set([1, 0, 0, x, 0, 1, 0, y, 0, 0, top - stage.floor, stage.floor], 12 * r);
  }
  renderer.place(actor.plinthBuffer, values);
}
function placeBalls(actor) {
  const { runs, frames, balls, robot, shift } = actor, [a, part] = actor.frame(state.time), next = part > 0 ? 3 : 0;
  const values = new Float32Array(12 * runs * balls.length);
  balls.forEach(({ centers, radii }, b) => {
    for (let r = 0; r < runs; r++) {
      const i = 3 * (r * frames + a), [x, y] = shift.subarray(2 * r), s = radii[r];
      const p = moved(robot.up, [0, 1, 2].map((c) => (1 - part) * centers[i + c] + part * centers[i + next + c]));
      values.set([s, 0, 0, p[0] + x, 0, s, 0, p[1] + y, 0, 0, s, p[2] + actor.lift], 12 * (b * runs + r));
    }
  });
  renderer.place(actor.ballBuffer, values);
}
const chosenQ = ({ q, run, robot }) => q.subarray(run * robot.nq, (run + 1) * robot.nq);  // of the run that is shown
function baseOf(actor, run = actor.run) {
  const base = actor.robot.up.slice();
  base[3] = actor.shift[2 * run]; base[7] = actor.shift[2 * run + 1]; base[11] = actor.lift;
  return base;
}
function solidsNow() {
  const found = [];
  for (const actor of actors) {
    if (actor.state === "hidden") continue;
    const together = !stage.apart && actor.runs > 1, count = together ? 1 : actor.runs, layer = actors.indexOf(actor);
    const first = together ? actor.run : 0, last = actor.runs - 1 - first;
    const none = [0, 0, 0, 0], tint = actor.color ? [...rgb(actor.color), 0.72] : none;
    const opacity = actor.state === "ghost" ? 0.34 : 1, ghost = Math.max(0.08, Math.min(0.3, 6 / actor.runs));
    for (const { solid, clear, body } of actor.solids) {
      const common = { solid, layer, tint: body < 0 ? none : tint }, share = clear ? 0.99 : 1;
      found.push({ ...common, first, count, opacity: share * opacity });
      if (!together || body < 0) continue;
      if (first > 0) found.push({ ...common, first: 0, count: first, opacity: opacity * ghost });
      if (last > 0) found.push({ ...common, first: first + 1, count: last, opacity: opacity * ghost });
    }
    const stands = actor.plinth && stage.floor < actor.plinthTop + actor.lift - 1e-3 * stage.detail;
    for (const solid of [...(stands ? [actor.plinth] : []), ...(actor.ballSolids ?? [])])
      found.push({ solid, first, count, layer, tint: none, opacity });
  }
  for (const { solid, color } of props)
    found.push({ solid, first: 0, count: 1, tint: [0, 0, 0, 0], opacity: color[3] < 1 ? 0.99 : 1 });
  return found;
}
const AXES = [[0.88, 0.25, 0.22], [0.25, 0.68, 0.30], [0.22, 0.45, 0.92]];  // the colors of x, y, z
function segment(values, a, b, color, alpha = 1) { values.push(...a, ...b, ...color, alpha); }
function overlays() {  // lines and balls that explain: frames, axes, the center of mass, handles, trails
  const frames = [], axes = [], trails = [], balls = [], labels = [], s = stage.detail, { show } = state;
  for (const actor of actors) {
    if (actor.state === "hidden") continue;
    const { robot } = actor, base = baseOf(actor);
    robot.place(chosenQ(actor), 0, base);
    if (stage.apart && actor.runs > 1 && actor === actors[state.active]) ringAround(base, frames);
    if (show.frames || show.names) for (let i = -1; i < robot.n; i++) {
      const T = robot.body(i, base), p = column(T, 3);
      if (show.frames) AXES.forEach((color, c) => segment(frames, p, plus(p, column(T, c), 0.09 * s), color));
      if (show.names) labels.push([p, i < 0 ? robot.frames[0].name : robot.bodies[i]]);
    }
    for (let i = 0; i < robot.n; i++) {  // all axes, or that of the slider under the mouse
      const axis = show.axes || (actor === actors[state.active] && i === state.joint) ? robot.axis(i, base) : null;
      if (!axis) continue;
      const { point, along, turns } = axis, color = turns ? [0.55, 0.33, 0.85] : [0.10, 0.62, 0.62];
      const end = plus(point, along, 0.16 * s), back = plus(end, along, -0.035 * s);
      const side = unit(cross(along, Math.abs(along[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
      segment(axes, plus(point, along, -0.12 * s), end, color);
      for (const way of [1, -1]) segment(axes, end, plus(back, side, way * 0.014 * s), color);
    }
    const center = show.mass ? robot.centerOfMass() : null;
    if (center) {
      balls.push([center, 0.016 * s, [0.93, 0.75, 0.1], 0.95]);
      segment(axes, center, [center[0], center[1], stage.floor], [0.85, 0.66, 0.05], 0.8);
    }
    if (show.trail && actor.moves) trailOf(actor, base, trails);
    if (show.handles && !actor.moves) robot.handles.forEach((k) => {
      const chosen = state.near?.actor === actor && state.near.frame === k, p = column(robot.frame(k, base), 3);
      balls.push([p, (chosen ? 0.026 : 0.018) * s, rgb(ACCENT), chosen ? 0.95 : 0.72]);
    });
  }
  if (show.names) for (const prop of props) labels.push([column(propPlace(prop), 3), prop.name]);
  const lines = [
    { values: trails, thick: 1.3, hidden: 0.35 }, { values: axes, thick: 1.2, hidden: 0.3 },
    { values: frames, thick: 1.6, hidden: 0.45 },
  ];
  return { lines, balls, labels };
}
function ringAround(base, values) {  // on the floor, about the run whose curves and pose are shown
  const r = 0.27 * stage.cell, at = (k) => [
    base[3] + r * Math.cos(k * Math.PI / 24), base[7] + r * Math.sin(k * Math.PI / 24), stage.floor,
  ];
  for (let k = 0; k < 48; k++) segment(values, at(k), at(k + 1), rgb(ACCENT));
}
function trailOf(actor, base, values) {
  const { robot } = actor, tips = robot.tips.slice(-6), step = Math.ceil(actor.frames / 2000);
  if (actor.waysOf !== actor.run) {  // where the tips of the run that is shown are, in the base
    actor.waysOf = actor.run;
    actor.ways = tips.map(() => []);
    for (let f = 0; f < actor.frames; f += step) {
      actor.at(actor.t[f]);
      robot.place(chosenQ(actor));
      tips.forEach((k, j) => actor.ways[j].push(column(robot.frame(k), 3)));
    }
    actor.at(state.time);
    robot.place(chosenQ(actor), 0, base);
  }
  const color = rgb(actor.color ?? ACCENT), passed = Math.floor(actor.frame(state.time)[0] / step) + 1;
  actor.ways.forEach((way, j) => {
    const points = way.slice(0, passed).map((p) => moved(base, p));
    points.push(column(robot.frame(tips[j], base), 3));
    for (let k = 1; k < points.length; k++) segment(values, points[k - 1], points[k], color);
  });
}
function look() {  // the camera: it looks at the middle of what the panel leaves free
  const w = Math.max(1, window.innerWidth), h = Math.max(1, window.innerHeight), phone = w <= 640;
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = Math.round(w * ratio), height = Math.round(h * ratio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const panel = byId("panel").classList.contains("closed") ? null : byId("panel").getBoundingClientRect();
  const bar = actors.some((a) => a.moves) ? 64 : 0, top = phone || stage.many ? 40 : 0;
  const right = panel && !phone ? w - panel.left : 0, bottom = panel && phone ? h - panel.top : bar;
  const free = [Math.max(80, w - right), Math.max(80, h - bottom - top)], spread = Math.tan(0.28);  // half of the field
  const { middle, distance } = fitting(spread, free[0] / free[1]), { turn, tilt, zoom, pan } = state.camera;
  const at = plus(middle, pan), far = distance / zoom, eye = plus(at, direction(turn, tilt), far);
  const view = looking(eye, at, [0, 0, 1]);
  const near = Math.max(0.02 * far, far - 12 * stage.radius), end = far + 14 * stage.radius, f = free[1] / h / spread;
  const project = Float32Array.of(
    f * h / w, 0, 0, 0, 0, f, 0, 0, right / w, (top - bottom) / h, -(end + near) / (end - near), -1,
    0, 0, -2 * end * near / (end - near), 0,
  );
  const seen = { camera: times4(project, view), view, eye, window: [width / 2, height / 2] };
  return { ...seen, at, width: w, height: h, spread: 1 / f };
}
const firstTilt = () => (stage.many ? MANY_TILT : TILT);
const direction = (turn, tilt) => [Math.cos(tilt) * Math.cos(turn), Math.cos(tilt) * Math.sin(turn), Math.sin(tilt)];
// Where the camera looks, and from how far, so that all is seen in the first view; it stays so when the view turns.
function fitting(spread, aspect) {
  const key = [spread, aspect].join();
  if (stage.fitted?.key === key) return stage.fitted;
  const away = direction(TURN, firstTilt()), x = unit(cross([0, 0, 1], away)), y = cross(away, x);
  // A point (u, v, k) along x, y, away is seen from (i, j, D) if |u - i| <= s (D - k), and so for v: the least D.
  const along = (side, s) => {
    let low = Infinity, high = -Infinity;
    for (const p of stage.cloud) {
      low = Math.min(low, dot(p, side) - s * dot(p, away));
      high = Math.max(high, dot(p, side) + s * dot(p, away));
    }
    return [(low + high) / 2, (high - low) / (2 * s)];
  };
  const [i, across] = along(x, spread * aspect / 1.12), [j, up] = along(y, spread / 1.12);
  const depths = boxAround((grow) => stage.cloud.forEach((p) => grow([dot(p, away), 0, 0])));
  const k = (depths.low[0] + depths.high[0]) / 2, middle = plus(plus(away.map((a) => k * a), x, i), y, j);
  const distance = Math.max(0.1 * stage.detail, Math.max(across, up) - k);
  stage.fitted = { key, middle, distance };
  return stage.fitted;
}
let seenFrom = null;
function onScreen(p, { camera: C, width, height } = seenFrom) {  // pixels from the upper left corner
  const [x, y, , w] = [0, 1, 2, 3].map((r) => C[r] * p[0] + C[4 + r] * p[1] + C[8 + r] * p[2] + C[12 + r]);
  return [(x / w + 1) / 2 * width, (1 - y / w) / 2 * height, w];
}
function draw() {
  placeAll();
  const before = performance.now(), extra = overlays(), values = new Float32Array(12 * Math.max(1, extra.balls.length));
  seenFrom = look();
  extra.balls.forEach(([p, r], k) => values.set([r, 0, 0, p[0], 0, r, 0, p[1], 0, 0, r, p[2]], 12 * k));
  renderer.place(overlay.buffer, values);
  const solids = solidsNow();
  extra.balls.forEach(([, , color, opacity], k) =>
    solids.push({ solid: overlay.ball, first: k, count: 1, tint: [...color, 1], opacity, front: true }));
  renderer.draw({ ...seenFrom, stage, theme: THEMES[state.dark ? "dark" : "light"], solids, lines: extra.lines });
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
