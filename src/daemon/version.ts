import { readFileSync } from 'node:fs'

/** The package's own file lies two folders above, in a clone (src/daemon) as in the package (dist/daemon). */
export function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return String(version)
}
