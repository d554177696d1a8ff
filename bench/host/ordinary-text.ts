import { closeSync, openSync, writeSync } from 'node:fs'

/** Ordinary output of builds, servers and people: no secrets, but many candidates for the beginning of one. */
const LINES = [
  '2026-11-15T16:45:18.123Z INFO  [worker-1] GET /api/v1/projects/42/builds?page=2 status=200 duration=12ms bytes=18231',
  '2026-11-15T16:45:18.204Z DEBUG [pool] checkout connection id=17 waited=0.3ms idle=4 in_use=6 max=20',
  'src/command/output/line-finder.ts:33:12 - error TS2345: Argument of type "string" is not assignable to parameter.',
  '    at async CommandOutput.follow (file:///srv/app/node_modules/reeve/dist/command/command-output.js:141:7)',
  ' ✓ test/store/sqlite-conformance.test.ts (214 tests) 8123ms',
  'commit 3cd3d7b1f0e9a8b7c6d5e4f3a2b1c0d9e8f7a6b5 (HEAD -> main, origin/main)',
  '+  const found = items.filter((item) => item.key === wanted && item.value !== undefined)',
  '-  for (let index = 0; index < items.length; index++) total += items[index].price * quantity',
  'Successfully installed numpy-2.3.1 pandas-2.4.0 python-dateutil-2.9.0 pytz-2025.2 six-1.17.0',
  'npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.',
  'The quick brown fox jumps over the lazy dog, and nobody knows why it does so every single time.',
  '  ➜  Local:   http://localhost:5173/   ➜  Network: use --host to expose',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  dist/bundle-550e8400-e29b-41d4.js',
  '[ 42%] Building CXX object src/CMakeFiles/core.dir/storage/segment_writer.cpp.o',
  '',
  '{"level":30,"time":1763225118123,"pid":4211,"name":"api","msg":"request completed","responseTime":8}',
].join('\n')
const AT_A_TIME = 4 * 1024 * 1024

/** A file of such text. */
export function writeOrdinaryText(file: string, bytes: number): void {
  const part = Buffer.from(`${LINES}\n`)
  const block = Buffer.alloc(Math.floor(AT_A_TIME / part.length) * part.length, part)
  const fd = openSync(file, 'w')
  for (let written = 0; written < bytes; written += block.length)
    writeSync(fd, block, 0, Math.min(block.length, bytes - written))
  // Cuts the text after a whole line.
  const last = Buffer.from(`\n${' '.repeat(198)}\n`)
  writeSync(fd, last, 0, last.length, bytes - last.length)
  closeSync(fd)
}
