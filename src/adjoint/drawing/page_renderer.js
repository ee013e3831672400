// --- 4 x 4 matrices of WebGL, by columns -----------------------------------------------------------------------------
function times4(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++)
    for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
}
const unit = (v) => { const s = Math.hypot(...v) || 1; return v.map((x) => x / s); };
function looking(eye, at, up) {  // the camera at `eye` looks along -z
  const z = unit(plus(eye, at, -1)), x = unit(cross(up, z)), y = cross(z, x);
  return Float32Array.of(x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye),
      -dot(z, eye), 1);
}

// --- shaders ---------------------------------------------------------------------------------------------------------
const LIGHT = `
uniform highp sampler2DShadow shadows;
uniform mat4 toLight;
uniform vec3 sun;
uniform float softness, blur;
float lit(vec3 p, vec3 n) {  // how much of the sun's light arrives: the mean over a disc of the shadow map
  vec3 s = (toLight * vec4(p + n * softness, 1)).xyz * 0.5 + 0.5;
  if (any(lessThan(s.xy, vec2(0))) || any(greaterThan(s.xy, vec2(1)))) return 1.0;
  s.z = min(s.z, 0.999);  // the floor is behind all that the map holds
  vec2 texel = 1.0 / vec2(textureSize(shadows, 0));
  float sum = 0.0;
  for (int k = 0; k < 20; k++) {
    float a = 2.399963 * float(k), r = blur * sqrt((float(k) + 0.5) / 20.0);
    sum += texture(shadows, vec3(s.xy + r * texel * vec2(cos(a), sin(a)), s.z - 0.0006));
  }
  return sum / 20.0;
}
vec3 seen(vec3 x) {  // as film does: bright parts keep their shape
  x *= 1.3;
  return pow(clamp(x * (1.0 + x / 3.2) / (1.0 + x), 0.0, 1.0), vec3(1.0 / 2.2));
}`;

const SOLID_VERTEX = `#version 300 es
layout(location=0) in vec3 position; layout(location=1) in vec3 normal; layout(location=2) in vec4 color;
layout(location=3) in vec4 row0; layout(location=4) in vec4 row1; layout(location=5) in vec4 row2;
uniform mat4 camera;
out vec3 place, facing; out vec4 paint;
void main() {
  vec4 p = vec4(position, 1);
  place = vec3(dot(row0, p), dot(row1, p), dot(row2, p));
  facing = vec3(dot(row0.xyz, normal), dot(row1.xyz, normal), dot(row2.xyz, normal));
  paint = color;
  gl_Position = camera * vec4(place, 1);
}`;
const SOLID_FRAGMENT = `#version 300 es
precision highp float;
in vec3 place, facing; in vec4 paint; out vec4 color;
uniform vec3 eye, sky, ground; uniform vec4 tint; uniform float opacity, glow;
${LIGHT}
void main() {
  vec3 v = normalize(eye - place), n = normalize(facing);
  if (dot(n, v) < 0.0) n = -n;  // files have faces of either side
  vec3 base = pow(mix(paint.rgb, tint.rgb, tint.a), vec3(2.2));
  float facingSun = dot(n, sun), sunlight = facingSun > 0.0 ? facingSun * lit(place, n) : 0.0;
  vec3 h = normalize(v + sun);
  float shine = sunlight * pow(max(dot(n, h), 0.0), 48.0), edge = pow(1.0 - max(dot(n, v), 0.0), 4.0);
  float fill = max(dot(n, normalize(vec3(-sun.xy, 0.35))), 0.0);
  vec3 light = mix(ground, sky, 0.5 + 0.5 * n.z) + vec3(0.10, 0.11, 0.13) * fill + vec3(0.92, 0.89, 0.84) * sunlight;
  light = mix(light, vec3(1.1), glow);
  float a = opacity * paint.a;
  color = vec4(seen(base * light + 0.22 * shine + 0.16 * edge * sky) * a, a);
}`;
const DEPTH_FRAGMENT = `#version 300 es
precision highp float;
void main() {}`;
const FLOOR_VERTEX = `#version 300 es
layout(location=0) in vec2 corner;
uniform mat4 camera; uniform vec3 middle; uniform float width;
out vec3 place;
void main() { place = middle + vec3(corner * width, 0); gl_Position = camera * vec4(place, 1); }`;
const FLOOR_FRAGMENT = `#version 300 es
precision highp float;
in vec3 place; out vec4 color;
uniform vec3 middle, eye; uniform float width, cell, depth; uniform vec4 tone, lines;
${LIGHT}
float grid(float step, float thick) {  // 1 on lines, about one pixel wide
  vec2 x = place.xy / step, w = fwidth(x), d = abs(fract(x - 0.5) - 0.5) / w;
  vec2 dense = clamp(0.15 / w - 0.2, 0.0, 1.0), line = clamp(thick - d + 0.5, 0.0, 1.0) * dense;
  return max(line.x, line.y);
}
void main() {
  float far = length(place.xy - middle.xy) / width, fade = 1.0 - smoothstep(0.25, 0.95, far);
  float grids = max(0.32 * grid(cell / 5.0, 0.5), 0.9 * grid(cell, 0.75)) * lines.a;
  vec3 c = mix(tone.rgb, lines.rgb, grids);
  float dark = 1.0 - lit(place, vec3(0)), below = eye.z < place.z ? 0.25 : 1.0;
  float a = fade * below * tone.a;
  color = vec4(c * (1.0 - depth * dark) * a, a);
}`;
const LINE_VERTEX = `#version 300 es
layout(location=0) in vec2 corner;
layout(location=1) in vec3 a; layout(location=2) in vec3 b; layout(location=3) in vec4 color;
uniform mat4 camera; uniform vec2 window; uniform float thick;
out vec4 paint; out float across;
void main() {  // a segment, as a rectangle on the screen
  vec4 p = camera * vec4(a, 1), q = camera * vec4(b, 1);
  if (p.w < 0.001 || q.w < 0.001) { gl_Position = vec4(2, 2, 2, 1); return; }
  vec2 d = (q.xy / q.w - p.xy / p.w) * window;
  d = length(d) > 0.0 ? normalize(d) : vec2(1, 0);
  vec4 end = corner.x < 0.0 ? p : q;
  vec2 shift = (vec2(-d.y, d.x) * corner.y + d * corner.x * 0.2) * (thick + 1.5);
  gl_Position = end + vec4(shift / window * end.w, 0, 0);
  paint = color; across = corner.y * (thick + 1.5);
}`;
const LINE_FRAGMENT = `#version 300 es
precision highp float;
in vec4 paint; in float across; out vec4 color;
uniform float thick, opacity;
void main() {
  float a = paint.a * opacity * clamp((thick + 1.0 - abs(across)) / 1.5, 0.0, 1.0);
  color = vec4(paint.rgb * a, a);
}`;

// --- meshes: corners with normals; edges sharper than 32 degrees stay sharp ------------------------------------------
const CREASE = Math.cos(32 * Math.PI / 180);
function cornersOf(part, read) {
  const grid = read(part.vertices), faces = read(part.faces), count = grid.length / 3,
      at = new Float32Array(grid.length);
  for (let i = 0; i < grid.length; i++) at[i] = part.low[i % 3] + part.step[i % 3] * grid[i];
  const known = new Map(), same = new Uint32Array(count);  // files repeat vertices; those at one place are one
  for (let i = 0; i < count; i++) {
    const key = (grid[3 * i] * 65536 + grid[3 * i + 1]) * 65536 + grid[3 * i + 2];
    if (!known.has(key)) known.set(key, i);
    same[i] = known.get(key);
  }
  const m = faces.length / 3, flat = new Float32Array(3 * m), area = new Float32Array(m),
      start = new Uint32Array(count + 1);
  for (let f = 0; f < m; f++) {
    const [a, b, c] = [0, 1, 2].map((k) => at.subarray(3 * faces[3 * f + k], 3 * faces[3 * f + k] + 3));
    const n = cross(plus(b, a, -1), plus(c, a, -1)), size = Math.hypot(...n);
    area[f] = size;
    flat.set(size > 0 ? n.map((x) => x / size) : [0, 0, 0], 3 * f);
    for (let k = 0; k < 3; k++) start[same[faces[3 * f + k]] + 1]++;
  }
  for (let i = 0; i < count; i++) start[i + 1] += start[i];
  const fill = start.slice(), around = new Uint32Array(3 * m);
  for (let f = 0; f < m; f++) for (let k = 0; k < 3; k++) around[fill[same[faces[3 * f + k]]]++] = f;
  const position = new Float32Array(9 * m), normal = new Float32Array(9 * m);
  for (let f = 0; f < m; f++) for (let k = 0; k < 3; k++) {
    const v = faces[3 * f + k], s = same[v], o = 9 * f + 3 * k, nx = flat[3 * f], ny = flat[3 * f + 1],
        nz = flat[3 * f + 2];
    let x = 0, y = 0, z = 0;
    for (let j = start[s]; j < start[s + 1]; j++) {
      const g = around[j], gx = flat[3 * g], gy = flat[3 * g + 1], gz = flat[3 * g + 2];
      if (nx * gx + ny * gy + nz * gz >= CREASE) { x += area[g] * gx; y += area[g] * gy; z += area[g] * gz; }
    }
    const size = Math.hypot(x, y, z) || 1;
    position.set(at.subarray(3 * v, 3 * v + 3), o);
    normal[o] = x / size; normal[o + 1] = y / size; normal[o + 2] = z / size;
  }
  return { position, normal };
}
function turned(outline, sides = 32) {  // a solid about z of an outline of (radius, height), upwards, with its normals
  const position = [], normal = [];
  const ring = ([r, h], k) => { const a = 2 * Math.PI * k / sides; return [r * Math.cos(a), r * Math.sin(a), h]; };
  for (let i = 0; i + 1 < outline.length; i++) for (let k = 0; k < sides; k++) {
    const low = outline[i], high = outline[i + 1], dr = high[0] - low[0], dh = high[1] - low[1];
    const [a, b, c, d] = [ring(low, k), ring(low, k + 1), ring(high, k + 1), ring(high, k)];
    const facing = (j) => unit([...ring([dh, 0], j).slice(0, 2), -dr]);
    position.push(...a, ...b, ...c, ...a, ...c, ...d);
    normal.push(...facing(k), ...facing(k + 1), ...facing(k + 1), ...facing(k), ...facing(k + 1), ...facing(k));
  }
  return { position: new Float32Array(position), normal: new Float32Array(normal) };
}
function ballMesh(sides = 28) {
  const rows = Array.from({ length: 15 }, (_, i) => Math.PI * (i / 14 - 0.5));
  const ball = turned(rows.map((a) => [Math.cos(a), Math.sin(a)]), sides);
  return { position: ball.position, normal: ball.position };
}

// --- drawing ---------------------------------------------------------------------------------------------------------
class Renderer {
  constructor(canvas) {
    const gl = this.gl = canvas.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: true });
    if (!gl) throw new Error("This page needs WebGL 2, which this browser does not offer.");
    this.canvas = canvas;
    this.programs = {
      solid: this.program(SOLID_VERTEX, SOLID_FRAGMENT), depth: this.program(SOLID_VERTEX, DEPTH_FRAGMENT),
      floor: this.program(FLOOR_VERTEX, FLOOR_FRAGMENT), line: this.program(LINE_VERTEX, LINE_FRAGMENT),
    };
    this.square = this.strip(Float32Array.of(-1, -1, 1, -1, -1, 1, 1, 1));
    this.lineBuffer = gl.createBuffer();
    this.lineArray = this.lines();
    this.shadowSize = 0;
    this.largest = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }
  program(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      const logs = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
      throw new Error([gl.getProgramInfoLog(program), ...logs].join("\n"));
    }
    const places = {}, count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let k = 0; k < count; k++) {
      const { name, type } = gl.getActiveUniform(program, k);
      places[name] = [gl.getUniformLocation(program, name), type];
    }
    return { program, places };
  }
  use(name, values) {
    const gl = this.gl, { program, places } = this.programs[name];
    gl.useProgram(program);
    for (const [key, value] of Object.entries(values)) {
      if (!(key in places)) continue;
      const [at, type] = places[key];
      if (type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(at, false, value);
      else if (type === gl.FLOAT_VEC4) gl.uniform4fv(at, value);
      else if (type === gl.FLOAT_VEC3) gl.uniform3fv(at, value);
      else if (type === gl.FLOAT_VEC2) gl.uniform2fv(at, value);
      else if (type === gl.FLOAT) gl.uniform1f(at, value);
      else gl.uniform1i(at, value);
    }
  }
  strip(corners) {
    const gl = this.gl, array = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    return { array, buffer };
  }
  lines() {
    const gl = this.gl, { array } = this.strip(Float32Array.of(-1, -1, 1, -1, -1, 1, 1, 1));
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineBuffer);
    for (const [at, size, from] of [[1, 3, 0], [2, 3, 12], [3, 4, 24]]) {
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 40, from);
      gl.vertexAttribDivisor(at, 1);
    }
    return array;
  }
  // Solids that move together: pieces {position, normal, color}, drawn once for each of `count` placements in `places`.
  solid(pieces, places, offset) {
    const gl = this.gl, total = pieces.reduce((s, p) => s + p.position.length / 3, 0);
    const bytes = new ArrayBuffer(20 * total);  // of each corner: 3 floats, a normal of 4 bytes, a color of 4 bytes
    const floats = new Float32Array(bytes), small = new Int8Array(bytes), colors = new Uint8Array(bytes);
    let i = 0;
    for (const { position, normal, color } of pieces) for (let k = 0; k < position.length; k += 3, i++) {
      for (let c = 0; c < 3; c++) {
        floats[5 * i + c] = position[k + c];
        small[20 * i + 12 + c] = Math.round(127 * normal[k + c]);
      }
      for (let c = 0; c < 4; c++) colors[20 * i + 16 + c] = Math.round(255 * color[c]);
    }
    const array = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
    const fields = [[0, 3, gl.FLOAT, false, 0], [1, 3, gl.BYTE, true, 12], [2, 4, gl.UNSIGNED_BYTE, true, 16]];
    for (const [at, size, type, norm, from] of fields) {
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, type, norm, 20, from);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, places);
    for (let r = 0; r < 3; r++) {
      gl.enableVertexAttribArray(3 + r);
      gl.vertexAttribDivisor(3 + r, 1);
    }
    const solid = { array, total, places, offset };
    this.from(solid, 0);
    return solid;
  }
  from(solid, first) {  // its placements start at number `first`
    const gl = this.gl;
    if (solid.first === first) return;
    solid.first = first;
    gl.bindVertexArray(solid.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, solid.places);
    const start = solid.offset + 48 * first;
    for (let r = 0; r < 3; r++) gl.vertexAttribPointer(3 + r, 4, gl.FLOAT, false, 48, start + 16 * r);
  }
  placements() { return this.gl.createBuffer(); }
  place(buffer, values) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, values, this.gl.DYNAMIC_DRAW);
  }
  shadowMap(size) {
    const gl = this.gl;
    if (this.shadowSize === size) return;
    this.shadowSize = size;
    this.shadowTexture ??= gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.shadowTexture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, size, size, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
    const settings = {
      TEXTURE_MIN_FILTER: gl.LINEAR, TEXTURE_MAG_FILTER: gl.LINEAR, TEXTURE_COMPARE_MODE: gl.COMPARE_REF_TO_TEXTURE,
      TEXTURE_WRAP_S: gl.CLAMP_TO_EDGE, TEXTURE_WRAP_T: gl.CLAMP_TO_EDGE,
    };
    for (const [key, value] of Object.entries(settings)) gl.texParameteri(gl.TEXTURE_2D, gl[key], value);
    this.shadowFrame ??= gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.shadowTexture, 0);
    gl.drawBuffers([gl.NONE]);
  }
  instances(list, shadow = false) {
    const gl = this.gl;
    for (const { solid, first, count, layer = 0 } of list) {
      if (!count) continue;
      if (!shadow) gl.polygonOffset(layer, 2 * layer);  // of robots in the same place, one is seen
      this.from(solid, first);
      gl.bindVertexArray(solid.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, solid.total, count);
    }
  }
  // scene: {solids: [{solid, first, count, tint, opacity, layer, front}], lines: [{points, ...}], stage, camera, theme}
  draw(scene) {
    const gl = this.gl, { camera, eye, stage, theme, solids } = scene, sun = unit([0.15, -0.8, 1.25]);
    const back = solids.filter((s) => !s.front);
    const opaque = back.filter((s) => s.opacity >= 1), clear = back.filter((s) => s.opacity < 1);
    // 1. what the sun sees
    const r = stage.radius, size = stage.many ? Math.min(4096, this.largest) : 2048;
    const view = looking(plus(stage.center, sun, 2 * r), stage.center, [0, 1, 0]);
    const toLight = times4(Float32Array.of(1 / r, 0, 0, 0, 0, 1 / r, 0, 0, 0, 0, -1 / r, 0, 0, 0, -2, 1), view);
    this.shadowMap(size);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.viewport(0, 0, size, size);
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.polygonOffset(1.5, 3);
    this.use("depth", { camera: toLight });
    this.instances(opaque, true);
    // 2. what the camera sees: the floor, opaque solids, then translucent ones behind which no other is seen
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.shadowTexture);
    const light = { camera, eye, toLight, sun, shadows: 0, softness: 4 * r / size, blur: theme.blur * size / 2048,
        depth: theme.shade, sky: theme.sky, ground: theme.ground };
    this.use("solid", light);
    for (const s of opaque) { this.use("solid", { tint: s.tint, opacity: 1, glow: 0 }); this.instances([s]); }
    gl.enable(gl.BLEND);
    this.use("floor", { ...light, middle: [stage.center[0], stage.center[1], stage.floor], width: 9 * r,
        cell: stage.cell, tone: theme.floor, lines: theme.lines });
    gl.depthMask(false);
    gl.polygonOffset(0, 0);
    gl.bindVertexArray(this.square.array);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
    this.ghosts(clear, light);
    this.drawLines(scene);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.ghosts(solids.filter((s) => s.front), light);
  }
  ghosts(list, light) {
    const gl = this.gl;
    gl.colorMask(false, false, false, false);
    this.use("depth", { camera: light.camera });
    this.instances(list);
    gl.colorMask(true, true, true, true);
    this.use("solid", light);
    for (const s of list) {
      this.use("solid", { tint: s.tint, opacity: s.opacity, glow: s.front ? 0.75 : 0 });
      this.instances([s]);
    }
  }
  drawLines({ lines, camera, window }) {  // what is hidden by solids shines through a little
    const gl = this.gl;
    gl.depthMask(false);
    gl.polygonOffset(0, 0);
    for (const { values, thick, opacity = 1, hidden = 0.25 } of lines) {
      if (!values.length) continue;
      gl.bindVertexArray(this.lineArray);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.lineBuffer);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(values), gl.DYNAMIC_DRAW);
      for (const [test, share] of [[gl.LEQUAL, 1], [gl.GREATER, hidden]]) {
        if (!share) continue;
        gl.depthFunc(test);
        this.use("line", { camera, window, thick, opacity: opacity * share });
        gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, values.length / 10);
      }
    }
    gl.depthFunc(gl.LEQUAL);
    gl.depthMask(true);
  }
}
