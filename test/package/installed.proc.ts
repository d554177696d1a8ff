import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { build } from '../../scripts/build.ts'
import { testIf } from '../reporting/test-if.ts'
import { TempReeve } from '../temp-reeve.ts'

const run = promisify(execFile)
const CACHE = resolve('node_modules/.cache')
const TSC = resolve('node_modules/.bin/tsc')
const { version, exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string
  exports: Record<string, { types: string; default: string }>
}
let folder = ''

/** As `npm install` leaves it, but that its dependencies are those of this clone. */
beforeAll(async () => {
  mkdirSync(CACHE, { recursive: true })
  folder = mkdtempSync(join(CACHE, 'installed-'))
  await build(join(folder, 'dist'))
  for (const part of ['bin', 'package.json']) cpSync(part, join(folder, part), { recursive: true })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function built(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return run(process.execPath, words, { cwd: folder, env: { ...process.env, ...env } })
}

test('an installed package runs commands in a daemon, with a keeper that outlives it', async () => {
  const { env, home } = new TempReeve()
  const reeve = async (...words: string[]) =>
    (await built([join(folder, 'bin/reeve.mjs'), ...words], env)).stdout
  expect(await reeve('version')).toContain(version)
  await reeve('up', '-d', '--listen', '127.0.0.1:0')
  expect(await reeve('run', '-c', 'echo from a build')).toBe('from a build\n')
  await reeve('run', '-d', '--name', 'stays', '--lifetime', 'detached', '-c', 'echo here; exec cat')
  await reeve('down')
  expect(await reeve('up', '-d', '--listen', '127.0.0.1:0')).toContain(home.folder)
  expect(await reeve('logs', 'stays')).toContain('here')
  await reeve('kill', 'stays')
  await reeve('down')
})

test('an installed package has everything that its exports name, with types', async () => {
  for (const { types, default: file } of Object.values(exports)) {
    expect(existsSync(join(folder, types)), types).toBe(true)
    const { stdout } = await built([
      ...['--input-type=module', '--eval'],
      `console.log(Object.keys(await import('${pathToFileURL(join(folder, file)).href}')).length)`,
    ])
    expect(Number(stdout), file).toBeGreaterThan(0)
  }
})

test('the types of an installed package are checked without skipLibCheck, also with older libraries', async () => {
  const program = join(folder, 'uses-reeve.ts')
  const imported = Object.values(exports).map(
    ({ types }, at) =>
      `import * as part${at} from './${types.replace(/^\.\//, '').replace(/\.d\.ts$/, '.js')}'`,
  )
  const used = Object.keys(exports).map((_, at) => `part${at}`)
  writeFileSync(program, `${imported.join('\n')}\nexport const parts = [${used.join(', ')}]\n`)
  const options = '--ignoreConfig --noEmit --strict --module nodenext --types node --skipLibCheck false'
  await run(TSC, [...options.split(' '), '--target', 'es2022', '--lib', 'es2022', program])
}, 600_000)

test('a workflow runs in a program that has the package installed', async () => {
  const program = `
    import { embed } from '${pathToFileURL(join(folder, 'dist/index.js')).href}'
    const reeve = await embed({ store: process.argv[1], workflows: { double: (ctx, n) => ctx.step('twice', () => n * 2) } })
    const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'double', input: 21 } })
    console.log((await reeve.wait({ pid: record.pid })).record.outcome.result)
    await reeve.close()`
  const { stdout } = await built(['--input-type=module', '--eval', program, join(folder, 'reeve.db')])
  expect(stdout).toBe('42\n')
})

test('an installed package creates a schema in PostgreSQL', async () => {
  const url = inject('postgresUrl')
  const schema = `installed ${crypto.randomUUID()}`
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  onTestFinished(async () => {
    await sql.unsafe(`drop schema if exists "${schema}" cascade`)
    await sql.end()
  })
  const program = `
    import { openPostgres } from '${pathToFileURL(join(folder, 'dist/postgres.js')).href}'
    const store = await openPostgres(process.argv[1], { schema: process.argv[2] })
    console.log((await store.ask({ ask: 'holders' })).length)
    await store.close()`
  const { stdout } = await built(['--input-type=module', '--eval', program, url, schema])
  expect(stdout).toBe('0\n')
})

test('an installed package says under which licence each of its parts is given on', () => {
  const licences = readFileSync(join(folder, 'dist/licenses.txt'), 'utf8')
  const parts = licences.split(/^(\S+)\n=+\n\n/m).slice(1)
  const texts = new Map(parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1] ?? '']] : [])))
  expect([...texts.keys()]).toEqual(expect.arrayContaining(['ajv', 'hono', 're2js', 'ws', 'zod']))
  for (const [name, text] of texts) expect(text, name).toMatch(/copyright|public domain/i)
})

test('every program that is started by its path is in the package', () => {
  for (const name of ['main', 'keeper/main', 'demo/worker'])
    expect(existsSync(join(folder, 'dist', `${name}.js`)), name).toBe(true)
})

/** A Node that is too old for Reeve, where this machine has one. */
const old = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => existsSync(path) && majorOf(path) < 24)

testIf(old !== undefined, 'needs a Node older than 24 in /usr/bin or /usr/local/bin')(
  'under an older Node every import says which one is needed, and how to get it',
  () => {
    for (const name of ['index', 'sqlite', 'postgres']) {
      const script = `import(${JSON.stringify(join(folder, 'dist', `${name}.js`))})
        .then(() => console.log('imported'), (error) => console.log(error.message))`
      const said = execFileSync(String(old), ['--input-type=module', '-e', script], { encoding: 'utf8' })
      expect(said, name).toMatch(/^Reeve needs Node 24 or newer, and this is Node \d+\.\d+\.\d+\. .*npx node/)
    }
  },
)

function majorOf(path: string): number {
  return Number(/^v(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }))?.[1])
}
