// --- rigid motions: rows [R | p] of 3 x 4 numbers in a flat array, from some place on --------------------------------
function times(a, i, b, j, out, k) {  // out = a b; out is neither a nor b
  for (let r = 0; r < 12; r += 4) {
    const x = a[i + r], y = a[i + r + 1], z = a[i + r + 2];
    for (let c = 0; c < 4; c++) out[k + r + c] = x * b[j + c] + y * b[j + 4 + c] + z * b[j + 8 + c];
    out[k + r + 3] += a[i + r + 3];
  }
}
const ONE = Float64Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0);
function product(a, b) { const out = new Float64Array(12); times(a, 0, b, 0, out, 0); return out; }
function inverse(T) {
  const out = new Float64Array(12);
  for (let r = 0; r < 3; r++) for (let c = 0; c < 3; c++) {
    out[4 * r + c] = T[4 * c + r];
    out[4 * r + 3] -= T[4 * c + r] * T[4 * c + 3];
  }
  return out;
}
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const plus = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const rotated = (T, v) => [0, 4, 8].map((r) => T[r] * v[0] + T[r + 1] * v[1] + T[r + 2] * v[2]);
const moved = (T, p) => plus(rotated(T, p), [T[3], T[7], T[11]]);
const part12 = (all, i) => all.slice(12 * i, 12 * i + 12);
const column = (T, c) => [T[c], T[4 + c], T[8 + c]];

// exp(S q) of a screw S = (w, v), with |w| = 1 or w = 0 (Park 1994, Lemmas 1 and 2):
//   R = w w' + cos q (1 - w w') + sin q [w],   p = q w w' v + sin q (1 - w w') v + (1 - cos q) w x v.
// It is linear in (1, cos q, sin q, q), and so is M exp(S q): these are its four matrices.
function screwTerms(M, S) {
  const w = [S[0], S[1], S[2]], v = [S[3], S[4], S[5]], terms = [0, 1, 2, 3].map(() => new Float64Array(12));
  const hat = [0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0], turns = w.some((x) => x !== 0), u = cross(w, v);
  for (let r = 0; r < 3; r++) for (let c = 0; c < 3; c++) {
    const along = w[r] * w[c], across = (r === c ? 1 : 0) - along;
    terms[0][4 * r + c] = turns ? along : across;
    terms[1][4 * r + c] = turns ? across : 0;
    terms[2][4 * r + c] = hat[3 * r + c];
    terms[2][4 * r + 3] += turns ? across * v[c] : 0;
    terms[3][4 * r + 3] += turns ? along * v[c] : 0;
  }
  for (let r = 0; r < 3; r++) {
    terms[0][4 * r + 3] = u[r];
    terms[1][4 * r + 3] = -u[r];
    if (!turns) terms[3][4 * r + 3] = v[r];
  }
  const turn = M.map((x, i) => (i % 4 === 3 ? 0 : x));  // p of M counts once
  return terms.map((A, k) => product(k ? turn : M, A));
}

// The motion of a joint of several degrees of freedom in its own frame: planar, spherical, free.
function jointMotion(kind, q, k, J) {
  J.set(ONE);
  if (kind === 1) {
    const c = Math.cos(q[k + 2]), s = Math.sin(q[k + 2]);
    J[0] = c; J[1] = -s; J[4] = s; J[5] = c; J[3] = q[k]; J[7] = q[k + 1];
    return;
  }
  if (kind === 3) { J[3] = q[k]; J[7] = q[k + 1]; J[11] = q[k + 2]; k += 3; }
  let w = q[k], x = q[k + 1], y = q[k + 2], z = q[k + 3];
  const size = Math.hypot(w, x, y, z) || 1;
  w /= size; x /= size; y /= size; z /= size;
  J[0] = 1 - 2 * (y * y + z * z); J[1] = 2 * (x * y - w * z); J[2] = 2 * (x * z + w * y);
  J[4] = 2 * (x * y + w * z); J[5] = 1 - 2 * (x * x + z * z); J[6] = 2 * (y * z - w * x);
  J[8] = 2 * (x * z - w * y); J[9] = 2 * (y * z + w * x); J[10] = 1 - 2 * (x * x + y * y);
}

// --- a robot: T_i = T_parent M_i J_i(q_i), with J = exp(S q), or J = Q J_std(q) Q^-1 (Ploen & Park 1999, eq. 1) ------
class Robot {
  constructor(known, read) {
    Object.assign(this, known);
    this.n = known.bodies.length;
    for (const name of ["placements", "screws", "jointFrames", "framePlacements", "masses", "up"])
      this[name] = read(known[name]);
    this.screw = (i) => this.screws.slice(6 * i, 6 * i + 6);
    this.terms = [];  // of screws: the matrices of M exp(S q)
    this.outward = [];  // of other joints: M Q, and Q^-1
    this.inward = [];
    this.kinds.forEach((kind, i) => {
      const M = part12(this.placements, i), Q = part12(this.jointFrames, i);
      if (kind) [this.outward[i], this.inward[i]] = [product(M, Q), inverse(Q)];
      else this.terms[i] = screwTerms(M, this.screw(i));
    });
    this.T = new Float64Array(12 * this.n);
    this.handles = this.tips.filter((k) => this.freedom(k) > 0);  // frames that can be pulled
  }
  freedom(k) {  // how many joints that turn or slide move a frame
    let count = 0;
    for (let i = this.frames[k].body; i >= 0; i = this.parents[i]) count += this.kinds[i] ? 0 : 1;
    return count;
  }
  // All T_i (n x 12) at q[from ...], from the placement of the base on.
  place(q, from = 0, base = ONE) {
    const { T, n, parents, qStart, mimics, kinds, terms } = this, f = scratch[0], J = scratch[1], half = scratch[2];
    for (let i = 0; i < n; i++) {
      const at = from + qStart[i];
      if (kinds[i]) {
        jointMotion(kinds[i], q, at, J);
        times(this.outward[i], 0, J, 0, half, 0);
        times(half, 0, this.inward[i], 0, f, 0);
      } else {
        const x = mimics[i][0] * q[at] + mimics[i][1], c = Math.cos(x), s = Math.sin(x), [A, B, C, D] = terms[i];
        for (let e = 0; e < 12; e++) f[e] = A[e] + c * B[e] + s * C[e] + x * D[e];
      }
      if (parents[i] < 0) times(base, 0, f, 0, T, 12 * i);
      else times(T, 12 * parents[i], f, 0, T, 12 * i);
    }
    return T;
  }
  body(i, base = ONE) { return i < 0 ? base : part12(this.T, i); }  // after `place`
  frame(k, base = ONE) { return product(this.body(this.frames[k].body, base), part12(this.framePlacements, k)); }
  centerOfMass() {
    let mass = 0, sum = [0, 0, 0];
    for (let i = 0; i < this.n; i++) {
      const m = this.masses[4 * i], T = this.body(i), h = this.masses.slice(4 * i + 1, 4 * i + 4);
      mass += m;
      sum = plus(plus(sum, rotated(T, h)), column(T, 3), m);
    }
    return mass > 0 ? sum.map((x) => x / mass) : null;
  }
  // The axis of a joint that turns or slides: a point on it, its direction, and whether it turns; after `place`.
  axis(i, base = ONE) {
    if (this.kinds[i]) return null;
    const S = this.screw(i), w = S.slice(0, 3), v = S.slice(3), T = this.body(i, base), turns = w.some((x) => x !== 0);
    return { point: moved(T, turns ? cross(w, v) : [0, 0, 0]), along: rotated(T, turns ? w : v), turns };
  }
}
const scratch = [0, 1, 2].map(() => new Float64Array(12));

// --- inverse kinematics by damped least squares: dq = J' (J J' + d^2)^-1 e -------------------------------------------
// J are the rows (turn, motion of the frame's origin) of the space Jacobian's columns Ad(T_i) S_i of joints that turn
// or slide; e is the way to the target. Joints of several degrees of freedom stay where they are.
function reach(robot, q, k, target, { turning = 1, size = 1, rounds = 30 } = {}) {
  const { frames, parents, kinds, qStart, mimics, lower, upper } = robot, weight = turning * size;
  let error = Infinity;
  for (let round = 0; round < rounds; round++) {
    robot.place(q);
    const T = robot.frame(k), x = column(T, 3), way = plus(column(target, 3), x, -1);
    const e = [...turnBetween(T, target).map((a) => weight * a), ...way];
    error = Math.hypot(...e);
    if (error < 1e-7 * size) break;
    const found = new Map();  // {place in q: column}; a mimic adds to the column of its leader
    for (let i = frames[k].body; i >= 0; i = parents[i]) {
      if (kinds[i]) continue;
      const Ti = robot.body(i), S = robot.screw(i), w = rotated(Ti, S.slice(0, 3)), before = found.get(qStart[i]);
      const v = plus(rotated(Ti, S.slice(3)), cross(column(Ti, 3), w));
      const own = [...w.map((a) => weight * a), ...plus(v, cross(w, x))].map((a) => mimics[i][0] * a);
      found.set(qStart[i], before ? before.map((a, r) => a + own[r]) : own);
    }
    const columns = [...found].filter(([at, J]) => {  // without those that would leave their limits
      const push = J.reduce((s, a, r) => s + a * e[r], 0);
      return !(push < 0 && q[at] <= (lower[at] ?? -Infinity)) && !(push > 0 && q[at] >= (upper[at] ?? Infinity));
    });
    const damping = (0.02 * size) ** 2 + 0.02 * error * error, step = Math.min(1, 0.25 * size / Math.hypot(...way));
    const A = Array.from({ length: 6 }, (_, r) => Array.from({ length: 6 }, (_, c) =>
      columns.reduce((s, [, J]) => s + J[r] * J[c], r === c ? damping : 0)));
    const y = solved(A, e.map((a) => step * a));
    for (const [at, J] of columns) {
      const moved = q[at] + J.reduce((s, a, r) => s + a * y[r], 0);
      q[at] = Math.max(lower[at] ?? -Infinity, Math.min(upper[at] ?? Infinity, moved));
    }
  }
  robot.place(q);
  return error;
}
function turnBetween(T, target) {  // the rotation vector, seen from the base, that takes T's axes to the target's
  const R = product(target, inverse(T)), w = [R[9] - R[6], R[2] - R[8], R[4] - R[1]];
  const s = Math.hypot(...w), angle = Math.atan2(s, R[0] + R[5] + R[10] - 1);
  return s > 1e-9 ? w.map((a) => a * angle / s) : [0, 0, 0];
}
function solved(A, b) {  // A x = b, A positive definite
  const n = b.length, x = b.slice();
  for (let i = 0; i < n; i++) for (let r = i + 1; r < n; r++) {
    const f = A[r][i] / A[i][i];
    for (let c = i; c < n; c++) A[r][c] -= f * A[i][c];
    x[r] -= f * x[i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let c = i + 1; c < n; c++) x[i] -= A[i][c] * x[c];
    x[i] /= A[i][i];
  }
  return x;
}

function frameAt(t, time) {  // of times t: the number of the one before a time, and the part of the way to the next
  const last = t.length - 1;
  if (!(time > t[0])) return [0, 0];
  if (time >= t[last]) return [last, 0];
  let a = 0, b = last;
  while (b - a > 1) { const m = (a + b) >> 1; if (t[m] <= time) a = m; else b = m; }
  return [a, (time - t[a]) / (t[b] - t[a])];
}

// --- a thing beside the robots: its pose at one time -----------------------------------------------------------------
class Prop {
  constructor(known, read) {
    Object.assign(this, known);
    this.t = read(known.t);
    this.poses = read(known.poses);  // of each time: where it is, and its quaternion
    this.T = new Float64Array(12);
  }
  at(time) {  // rows [R | p], in the world or in the body that holds it
    const [a, part] = frameAt(this.t, time), from = 7 * a, next = part > 0 ? from + 7 : from, { poses } = this;
    let alike = 0;
    for (let c = 3; c < 7; c++) alike += poses[from + c] * poses[next + c];
    const way = (c) => (c > 2 && alike < 0 ? -part : part);  // quaternions: q and -q are the same turn
    const q = Array.from({ length: 7 }, (_, c) => (1 - part) * poses[from + c] + way(c) * poses[next + c]);
    jointMotion(3, q, 0, this.T);
    return this.T;
  }
}

// --- a motion: configurations of all runs at one time ----------------------------------------------------------------
class Actor {
  constructor(known, robots, read) {
    Object.assign(this, known);
    this.robot = robots[known.robot];
    this.t = read(known.t);
    this.recorded = read(known.q);
    this.balls = known.balls.map((b) => ({ centers: read(b.centers), radii: read(b.radii) }));
    this.curves = known.curves.map((c) => ({ ...c, values: read(c.values) }));
    this.moves = this.frames > 1;
    this.q = new Float64Array(this.runs * this.robot.nq);
    this.quats = this.robot.kinds.flatMap((kind, i) => (kind > 1 ? [this.robot.qStart[i] + 3 * (kind - 2)] : []));
    this.at(this.t[0]);
  }
  frame(time) { return frameAt(this.t, time); }
  at(time) {
    const { q, recorded: x, frames, low, step } = this, { nq } = this.robot;
    const [a, part] = this.frame(time), next = part > 0 ? nq : 0;
    for (let run = 0; run < this.runs; run++) {
      const from = (run * frames + a) * nq, to = run * nq;
      for (let k = 0; k < nq; k++) {
        const value = x[from + k] + part * (x[from + next + k] - x[from + k]);
        q[to + k] = low ? low[k] + step[k] * value : value;
      }
      for (const k of this.quats) this.blend(from + k, from + next + k, to + k, k, part);
    }
  }
  blend(from, next, to, k, part) {  // quaternions: q and -q are the same turn
    const { q, recorded: x, low, step } = this;
    const number = (i, c) => (low ? low[k + c] + step[k + c] * x[i + c] : x[i + c]);
    let alike = 0;
    for (let c = 0; c < 4; c++) alike += number(from, c) * number(next, c);
    for (let c = 0; c < 4; c++) q[to + c] = (1 - part) * number(from, c) + (alike < 0 ? -part : part) * number(next, c);
  }
}
