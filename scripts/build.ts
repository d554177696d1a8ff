/**
 * Builds the package: `dist` has few files instead of hundreds, together with the packages that are plain JavaScript, so that
 * whatever starts is there in a third of the time. Types are written as they are, one file per source.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** What others import, and what is started by its path. */
const ENTRIES = ['index', 'sqlite', 'postgres', 'testing/index', 'main', 'keeper/main', 'demo/worker']

/** They have native parts, or look for files of their own beside them. */
const LEFT_OUT = ['@lydell/node-pty', 'pino']

/** Makes `folder` anew, with programs and licences, without types. */
export async function bundle(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  const build = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(ROOT, 'src', `${name}.ts`)])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && isLeftOut(id),
  })
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
    sourcemap: true,
    minify: { compress: false, mangle: false, codegen: true },
  })
  await build.close()
  const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
  writeFileSync(join(folder, 'licenses.txt'), licencesOf(modules))
}

function isLeftOut(id: string): boolean {
  return isBuiltin(id) || LEFT_OUT.some((name) => id === name || id.startsWith(`${name}/`))
}

/** Of the packages whose texts are in the build. */
function licencesOf(modules: readonly string[]): string {
  const names = modules.flatMap((module) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1] ?? [])
  return [...new Set(names)]
    .sort()
    .map((name) => `${name}\n${'='.repeat(name.length)}\n\n${licenceOf(name)}`)
    .join('\n\n')
}

function licenceOf(name: string): string {
  const folder = join(ROOT, 'node_modules', name)
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'UNLICENSE']
    .map((one) => join(folder, one))
    .find((one) => existsSync(one))
  if (file !== undefined) return readFileSync(file, 'utf8').trim()
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (typeof license !== 'string')
    throw new Error(`${name} does not say under which licence it may be given on.`)
  return [license, typeof author === 'string' ? author : author?.name].filter(Boolean).join(', ')
}

async function writeTypes(): Promise<void> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  await promisify(execFile)(tsc, ['-p', 'tsconfig.build.json'], { cwd: ROOT })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await bundle(join(ROOT, 'dist'))
  await writeTypes()
}
