import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The programs of this package that are started as OS processes or threads of their own. Each is an entry of the build. */
type Program = 'main' | 'keeper/main' | 'demo/worker' | 'script/vm-main'

/** Its file: a source in a clone, built in an installed package. */
export function ownProgram(name: Program): string {
  return isSource() ? join(root(), 'src', `${name}.ts`) : join(root(), 'dist', `${name}.js`)
}

/** The launcher, which runs under any version of Node. */
export function launcher(): string {
  return join(root(), 'bin', 'reeve.mjs')
}

/** The text of a file that is not a module, by its path below `src`: the build copies it to the same path below `dist`. */
export function ownText(path: string): string {
  return readFileSync(join(root(), isSource() ? 'src' : 'dist', path), 'utf8')
}

export function ownVersion(): string {
  return String(manifestIn(root())?.version)
}

function isSource(): boolean {
  return import.meta.url.endsWith('.ts')
}

/** Looked for, because a build puts this text into one file or another. */
function root(): string {
  const from = dirname(fileURLToPath(import.meta.url))
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder))
    if (manifestIn(folder)?.name === 'reeve') return folder
  throw new Error(
    `No folder above ${from} is that of the package reeve. Leave it out of bundles: it starts programs from its own files, and reads SQL from them.`,
  )
}

function manifestIn(folder: string): { readonly name?: unknown; readonly version?: unknown } | undefined {
  const file = join(folder, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
