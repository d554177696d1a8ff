/** Writes docs/terminal.svg and docs/agent.svg: runs a few lines in a shell with a temporary home, and draws their real output. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const script = 'for n in 1 2 3 4; do echo "step $n of 4"; sleep 2; done; exit 3\n'

const session = [
  'cat build.sh',
  'reeve run -d --name build -- sh build.sh',
  'kill -9 $(reeve status --json | jq .daemon.osPid)     # kills the daemon, not the build',
  'reeve ps                                              # starts the next daemon',
  'reeve logs -f build',
  'reeve wait build; echo "exit code $?"',
]

const source = 'export function sum(a, b) {\n  return a - b\n}\n'
const test = `import assert from 'node:assert'
import { test } from 'node:test'
import { sum } from './sum.js'

test('adds', () => assert.equal(sum(1, 2), 3))
`
const agentSession = ['cat sum.js', 'reeve agent --model scripted/demo "make the tests pass"']

const KEEPS_RUNNING =
  'A command keeps running while its daemon is killed; its output and its exit code are all there afterwards'
const AGENT_SESSION = 'An agent reads a file, runs its tests, corrects the file and runs them again'

const COLUMNS = 94
const SIZE = { column: 8.43, line: 20, left: 20, top: 58, bottom: 18 }

const folder = mkdtempSync(join(tmpdir(), 'draw-'))
try {
  writeFileSync(join(folder, 'build.sh'), script)
  writeFileSync('docs/terminal.svg', svgOf(KEEPS_RUNNING, session.flatMap(shown)))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(folder, 'sum.js'), source)
  writeFileSync(join(folder, 'sum.test.js'), test)
  writeFileSync('docs/agent.svg', svgOf(AGENT_SESSION, agentSession.flatMap(shown)))
} finally {
  runInShell('reeve down')
  rmSync(folder, { recursive: true, force: true })
}

function shown(line: string): string[] {
  return [`$ ${line}`, ...outputOf(line)]
}

function outputOf(line: string): string[] {
  return runInShell(line).replace(/\n$/, '').split('\n').filter(Boolean)
}

function runInShell(line: string): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  const launcher = `#!/bin/sh\nexec '${process.execPath}' '${resolve('bin/reeve.mjs')}' "$@"\n`
  writeFileSync(join(bin, 'reeve'), launcher, { mode: 0o755 })
  return execFileSync('bash', ['-c', line], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PATH: `${bin}:${process.env['PATH']}`,
      REEVE_HOME: join(folder, 'home'),
      REEVE_LISTEN: 'off',
      NO_COLOR: '1',
    },
  })
}

function svgOf(title: string, lines: readonly string[]): string {
  const width = Math.round(COLUMNS * SIZE.column + 2 * SIZE.left)
  const height = SIZE.top + (lines.length - 1) * SIZE.line + SIZE.bottom
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, at) => `<circle cx="${22 + at * 20}" cy="20" r="6" fill="${colour}"/>`,
  )
  const rows = lines.map((line, at) => row(line, SIZE.top + at * SIZE.line))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#16181d"/>`,
    ...dots,
    '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#d5d8de">',
    ...rows,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function row(line: string, y: number): string {
  const [, prompt = '', text = '', comment = ''] =
    /^(\$ )?(.*?)(\s+# .*)?$/.exec(line.slice(0, COLUMNS)) ?? []
  const parts = [
    prompt === '' ? '' : `<tspan fill="#7ec699">${prompt}</tspan>`,
    prompt === '' ? escaped(text) : `<tspan fill="#ffffff">${escaped(text)}</tspan>`,
    comment === '' ? '' : `<tspan fill="#8b93a1">${escaped(comment)}</tspan>`,
  ]
  return `<text x="${SIZE.left}" y="${y}" xml:space="preserve">${parts.join('')}</text>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
