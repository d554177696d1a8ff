/**
 * Installs the clients that package-lock.json beside this file names, about 1.2 GB, into node_modules beside it. Where the
 * registry cannot be reached this says so and succeeds: the tests that need a client are skipped then, and say why.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = import.meta.dirname
const STAMP = join(FOLDER, 'node_modules', '.installed')
/** Mistakes in this repository, or an altered package. Other failures are those of a registry or of a network. */
const FATAL = ['EUSAGE', 'EINTEGRITY', 'EJSONPARSE']

const wanted = createHash('sha256')
  .update(readFileSync(join(FOLDER, 'package-lock.json')))
  .digest('hex')
const present = existsSync(STAMP) ? readFileSync(STAMP, 'utf8') : ''
if (present === wanted) console.log('The MCP clients are installed.')
else process.exitCode = install()

function install(): number {
  // The clients work without their install scripts: the tests start the programs in the packages of the platform.
  const args = ['ci', '--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund']
  const { status, stderr, error } = spawnSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'inherit', 'pipe'],
    shell: process.platform === 'win32',
  })
  if (status === 0) {
    writeFileSync(STAMP, wanted)
    return 0
  }
  console.error(error === undefined ? firstLines(stderr) : error.message)
  const code = /npm error code (\w+)/.exec(stderr ?? '')?.[1]
  if (code !== undefined && FATAL.includes(code)) return 1
  console.error(
    `The MCP clients could not be installed (${code ?? 'no npm'}). The tests that need them are skipped.`,
  )
  return 0
}

/** Npm closes some errors with the whole help of its command. */
function firstLines(text: string): string {
  return text.split('\n').slice(0, 20).join('\n')
}
