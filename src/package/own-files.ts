import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The programs of this package that are started as OS processes of their own. Each is an entry of the build. */
type Program = 'main' | 'keeper/main' | 'demo/worker'

/** The file of a program: its source in a clone, its build in an installed package. */
export function ownProgram(name: Program): string {
  const isSource = import.meta.url.endsWith('.ts')
  return isSource ? join(root(), 'src', `${name}.ts`) : join(root(), 'dist', `${name}.js`)
}

/** The script that starts `reeve` under Node 24, even if an older Node runs the script. */
export function launcher(): string {
  return join(root(), 'bin', 'reeve.mjs')
}

export function ownVersion(): string {
  return String(manifestIn(root())?.version)
}

/** Searched upwards, because the build decides in which file this function ends up. */
function root(): string {
  const from = dirname(fileURLToPath(import.meta.url))
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder))
    if (manifestIn(folder)?.name === 'reeve') return folder
  throw new Error(
    `No folder above ${from} is that of the package reeve. Leave it out of bundles: it starts programs from its own files.`,
  )
}

function manifestIn(folder: string): { readonly name?: unknown; readonly version?: unknown } | undefined {
  const file = join(folder, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
