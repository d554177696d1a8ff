/**
 * Writes into package-lock.json the optional packages of foreign platforms that the registry in use did not
 * have when the lock was made. npm leaves such packages out, and `npm ci` then refuses the lock it wrote.
 * Versions come from the packages that ask for them, platforms from the names. What is added has no hash, so
 * those platforms trust their registry for it, until the lock is made anew with a registry that has it all.
 * Run it after `npm install`; where nothing is missing it changes nothing.
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
