import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../../scripts/build.ts'
import { Dwelling } from '../daemon/dwelling.ts'

const run = promisify(execFile)
const CACHE = resolve('node_modules/.cache')
let folder = ''

/** As `npm install` leaves it, but that its dependencies are those of this clone. */
beforeAll(async () => {
  mkdirSync(CACHE, { recursive: true })
  folder = mkdtempSync(join(CACHE, 'installed-'))
  await bundle(join(folder, 'dist'))
  for (const part of ['bin', 'package.json']) cpSync(part, join(folder, part), { recursive: true })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function built(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return run(process.execPath, words, { cwd: folder, env: { ...process.env, ...env } })
}

const launcher = () => join(folder, 'bin/reeve.mjs')

test('an installed package runs commands in a daemon, with a keeper that outlives it', async () => {
  const { env, home } = new Dwelling()
  const reeve = async (...words: string[]) => (await built([launcher(), ...words], env)).stdout
  expect(await reeve('version')).toContain(JSON.parse(readFileSync('package.json', 'utf8')).version)
  await reeve('up', '-d', '--listen', '127.0.0.1:0')
  expect(await reeve('run', '-c', 'echo from a build')).toBe('from a build\n')
  await reeve('run', '-d', '--name', 'stays', '--lifetime', 'detached', '-c', 'echo here; exec cat')
  await reeve('down')
  expect(await reeve('up', '-d', '--listen', '127.0.0.1:0')).toContain(home.folder)
  expect(await reeve('logs', 'stays')).toContain('here')
  await reeve('kill', 'stays')
  await reeve('down')
})

test('an installed package has everything that its exports name', async () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, { default: string }>
  }
  for (const { default: file } of Object.values(exports)) {
    const { stdout } = await built([
      ...['--input-type=module', '--eval'],
      `console.log(Object.keys(await import('${pathToFileURL(join(folder, file)).href}')).length)`,
    ])
    expect(Number(stdout), file).toBeGreaterThan(0)
  }
})

test('a durable function runs in a program that has the package installed', async () => {
  const program = `
    import { embed } from '${pathToFileURL(join(folder, 'dist/index.js')).href}'
    const reeve = await embed({ store: process.argv[1], engines: { double: (ctx, n) => ctx.step('twice', () => n * 2) } })
    const { record } = await reeve.spawn({ kind: 'engine', spec: { engine: 'double', input: 21 } })
    console.log((await reeve.wait({ pid: record.pid })).record.outcome.result)
    await reeve.close()`
  const store = join(folder, 'reeve.db')
  const { stdout } = await built(['--input-type=module', '--eval', program, store])
  expect(stdout).toBe('42\n')
})

test('a package says under which licences its parts are given on', () => {
  const licences = readFileSync(join(folder, 'dist/licenses.txt'), 'utf8')
  expect(licences).toMatch(/^zod\n===\n\nMIT License/m)
  expect(licences).toMatch(/^hono\n/m)
  expect(readdirSync(join(folder, 'dist/parts')).filter((name) => name.endsWith('.js')).length).toBeLessThan(
    150,
  )
})
