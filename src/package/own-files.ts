import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The programs of this package that are started as OS processes of their own. Each is an entry of the build. */
type Program = 'main' | 'keeper/main' | 'demo/worker'

/** Its file: a source in a clone, built in an installed package. */
export function ownProgram(name: Program): string {
  const isSource = import.meta.url.endsWith('.ts')
  return isSource ? join(root(), 'src', `${name}.ts`) : join(root(), 'dist', `${name}.js`)
}

/** What starts `reeve` under whatever Node there is. */
export function launcher(): string {
  return join(root(), 'bin', 'reeve.mjs')
}

export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(join(root(), 'package.json'), 'utf8'))
  return String(version)
}

/** Looked for, because a build puts this text into one file or another. */
function root(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}
