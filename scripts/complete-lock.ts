/**
 * Adds the optional packages of other platforms to package-lock.json that the registry did not have when the lock was
 * made. npm leaves such packages out, and then `npm ci` rejects its own lock.
 * Versions come from the dependent packages, platforms from the names. Added entries have no hash, so those
 * platforms trust their registry, until the lock is regenerated with a registry that has all packages.
 * Run it after `npm install`; it changes nothing if nothing is missing.
 */
import { readFileSync, writeFileSync } from 'node:fs'

type Entry = {
  version?: string
  optionalDependencies?: Record<string, string>
  [field: string]: unknown
}

const lock: { packages: Record<string, Entry> } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const missing = Object.entries(lock.packages).flatMap(([path, entry]) =>
  Object.entries(entry.optionalDependencies ?? {})
    .filter(([name]) => !isLocked(name, path))
    .map(([name, range]) => [`node_modules/${name}`, entryFor(name, range, entry)] as const),
)
const packages = [...Object.entries(lock.packages), ...missing]
lock.packages = Object.fromEntries(packages.sort(([a], [b]) => a.localeCompare(b, 'en')))
if (missing.length > 0) writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${missing.length} packages added to package-lock.json.`)

function isLocked(name: string, by: string) {
  return `${by}/node_modules/${name}` in lock.packages || `node_modules/${name}` in lock.packages
}

function entryFor(name: string, range: string, parent: Entry): Entry {
  const words = name.replace(/^@[^/]*\//, '').split('-')
  const os = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'].filter((os) =>
    words.includes(os),
  )
  const cpus = ['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']
  const cpu = cpus.filter((cpu) => words.includes(cpu))
  const libc = words.some((word) => word.startsWith('musl')) ? ['musl'] : []
  if (!/^\d/.test(range) || cpu.length !== 1 || (os.length !== 1 && cpu[0] !== 'wasm32')) {
    throw new Error(`Cannot tell version and platform of ${name}@${range}: add it to the lock by hand.`)
  }
  return {
    version: range,
    cpu,
    ...(parent['dev'] === true && { dev: true }),
    ...(libc.length > 0 && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
    ...(parent['peer'] === true && { peer: true }),
  }
}
