/**
 * Builds the package. `dist` has a few dozen files instead of hundreds, and bundles the packages that are plain JavaScript, so
 * that programs start faster and take less memory (docs/adr/0010). The code is not minified, so that stack traces are
 * readable. Type declarations are one file per source.
 */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { builtinImports, refuseCircles } from './builtin-imports.ts'
import { partGroups } from './bundle-parts.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Entry points: imported by users, or started by path. */
const ENTRIES = [
  'index',
  'sqlite',
  'postgres',
  'testing/index',
  'main',
  'keeper/main',
  'demo/worker',
  'script/vm-main',
]

/** Not bundled: they have native parts, read files beside them, or come without their licence. */
const EXTERNAL = ['@lydell/node-pty', '@xterm/headless', 'postgres', '@ai-sdk', 'quickjs-wasi']

const BUNDLED_WITHIN_MCP = [
  'ajv',
  'ajv-formats',
  'content-type',
  'fast-deep-equal',
  'fast-uri',
  'json-schema-traverse',
]

/** Packages that these packages bundle themselves. */
const BUNDLED_WITHIN: Readonly<Record<string, readonly string[]>> = {
  '@modelcontextprotocol/client': BUNDLED_WITHIN_MCP,
  '@modelcontextprotocol/server': BUNDLED_WITHIN_MCP,
}

/** Replaces `folder` by the files of the package. */
export async function build(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  await Promise.all([bundle(folder), writeTypes(folder)])
}

/** Programs that are bundled with those of the package, by their names, and the sources of packages that they import. */
export interface MorePrograms {
  readonly programs: Readonly<Record<string, string>>
  readonly sources: Readonly<Record<string, string>>
}

/** The programs, their SQL files and the licences, without types. */
export async function bundle(
  folder: string,
  more: MorePrograms = { programs: {}, sources: {} },
): Promise<void> {
  const own = Object.fromEntries(ENTRIES.map((name) => [name, join(ROOT, 'src', `${name}.ts`)]))
  const bundled = await rolldown({
    input: { ...own, ...more.programs },
    resolve: { alias: { ...more.sources } },
    platform: 'node',
    // Such an import is of a module that a part of the build has anyway.
    checks: { ineffectiveDynamicImport: false },
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && isExternal(id),
  })
  const { output } = await bundled.write({
    dir: folder,
    format: 'esm',
    plugins: [builtinImports],
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
    codeSplitting: { groups: partGroups(join(ROOT, 'src')) },
  })
  await bundled.close()
  const files = output.filter((part) => part.type === 'chunk')
  refuseCircles(files)
  const modules = files.flatMap(({ moduleIds }) => moduleIds)
  for (const file of globSync('**/*.sql', { cwd: join(ROOT, 'src') }))
    cpSync(join(ROOT, 'src', file), join(folder, file))
  writeFileSync(join(folder, 'licenses.txt'), licencesOf(modules))
}

function isExternal(id: string): boolean {
  return isBuiltin(id) || EXTERNAL.some((name) => id === name || id.startsWith(`${name}/`))
}

/** The licences of the bundled packages. */
function licencesOf(modules: readonly string[]): string {
  const found = modules.flatMap(
    (module) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1] ?? [],
  )
  return [...new Set(found.flatMap((name) => [name, ...(BUNDLED_WITHIN[name] ?? [])]))]
    .sort()
    .map((name) => `${name}\n${'='.repeat(name.length)}\n\n${licenceOf(name)}`)
    .join('\n\n')
}

function licenceOf(name: string): string {
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'UNLICENSE']
    .map((one) => join(ROOT, 'node_modules', name, one))
    .find((one) => existsSync(one))
  if (file === undefined) throw new Error(`${name} comes without its licence: do not bundle it.`)
  return readFileSync(file, 'utf8').trim()
}

/** Unchecked here; `npm test` checks the types. */
async function writeTypes(folder: string): Promise<void> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  await promisify(execFile)(tsc, ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', folder], {
    cwd: ROOT,
  })
}

if (import.meta.main) await build(join(ROOT, 'dist'))
