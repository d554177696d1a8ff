import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Driver } from './drivers/driver.ts'

const NODE_MODULES = fileURLToPath(new URL('node_modules', import.meta.url))

/** The client's program and its first arguments, or why it cannot be started. */
export type Installed =
  | { readonly command: readonly string[]; readonly missing: null }
  | { readonly missing: string }

export function installed({ name, program }: Pick<Driver, 'name' | 'program'>): Installed {
  const command = program.map((part) => (isAbsolute(part) ? part : join(NODE_MODULES, part)))
  if (command.every((path) => existsSync(path))) return { command, missing: null }
  return {
    missing: `${name} is not installed for ${process.platform}-${process.arch}: npm run test:clients installs it`,
  }
}
