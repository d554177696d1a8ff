/**
 * Reeve as an installed package, for tests that start it as a program: its few files start faster than hundreds of sources, and
 * users run them, too. Programs of tests are in it, as `dist/fixtures/<name>.js`.
 *
 * As vitest's global set-up it builds the package, unless these sources have been built before, and gives its folder as
 * `builtReeve`, and to programs outside of Vitest's workers in a variable (`built-file.ts`).
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { BUILT_REEVE } from './built-file.ts'

declare module 'vitest' {
  interface ProvidedContext {
    builtReeve: string
  }
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Below `node_modules`, so that packages outside the bundle are found. */
const BUILDS = join(ROOT, 'node_modules/.cache/built')
/** Other runs may use younger ones. */
const KEPT_MS = 24 * 3_600_000
/** Their names differ. */
const FIXTURES = [
  'test/fixtures/*.ts',
  'test/keeper/other-protocol.ts',
  'test/keeper/tree/fixtures/*.ts',
  'test/agent/mcp/kernel-program.ts',
]
const INPUTS = [
  'src/**/*.*',
  'bin/*.mjs',
  'scripts/{build,builtin-imports,bundle-parts}.ts',
  'package.json',
  'package-lock.json',
]

export default async function setup(project: TestProject): Promise<void> {
  const provide = async () => {
    const folder = await builtReeve()
    project.provide('builtReeve', folder)
    process.env[BUILT_REEVE] = folder
  }
  await provide()
  project.onTestsRerun(provide)
}

/** The folder of the built package. */
export async function builtReeve(): Promise<string> {
  const folder = join(BUILDS, hashOfInputs())
  mkdirSync(BUILDS, { recursive: true })
  if (!existsSync(folder)) await build(folder)
  const now = new Date()
  utimesSync(folder, now, now)
  removeOldBuilds()
  return folder
}

async function build(folder: string): Promise<void> {
  const unfinished = mkdtempSync(join(BUILDS, 'unfinished-'))
  try {
    await bundleInto(unfinished)
    // Programs of other users are started from it, too.
    chmodSync(unfinished, 0o755)
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // Otherwise another run has built the same sources meanwhile.
    if (!existsSync(folder)) throw error
  }
}

async function bundleInto(unfinished: string): Promise<void> {
  const fixtures = globSync(FIXTURES, { cwd: ROOT })
  // The bundler loads slowly, and is rarely needed.
  const { bundle } = await import('../scripts/build.ts')
  await bundle(join(unfinished, 'dist'), {
    programs: Object.fromEntries(
      fixtures.map((file) => [`fixtures/${basename(file, '.ts')}`, join(ROOT, file)]),
    ),
    // The longer name first: the other one is a prefix of it.
    sources: { 'reeve/testing': join(ROOT, 'src/testing/index.ts'), reeve: join(ROOT, 'src/index.ts') },
  })
  for (const part of ['bin', 'package.json'])
    cpSync(join(ROOT, part), join(unfinished, part), { recursive: true })
}

function hashOfInputs(): string {
  const hash = createHash('sha256').update(process.version)
  const bundled = importedBy(globSync(FIXTURES, { cwd: ROOT }))
  const files = new Set([...globSync(INPUTS, { cwd: ROOT }), ...bundled])
  for (const file of [...files].sort()) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)))
  return hash.digest('hex').slice(0, 16)
}

/** These files of tests and those that they import, which end up in the bundle. */
function importedBy(files: readonly string[]): ReadonlySet<string> {
  const found = new Set(files)
  for (const file of found)
    for (const [, path = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORTED)) {
      const imported = join(dirname(file), path)
      if (existsSync(join(ROOT, imported))) found.add(imported)
    }
  return found
}

const IMPORTED = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g

function removeOldBuilds(): void {
  for (const name of readdirSync(BUILDS)) {
    const path = join(BUILDS, name)
    const usedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (usedAt < Date.now() - KEPT_MS) rmSync(path, { recursive: true, force: true })
  }
}
