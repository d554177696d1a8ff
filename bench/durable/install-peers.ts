import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The folder itself where it is installed; otherwise a copy, installed with `options` of npm. The given folder is never
 * written to.
 */
export async function runnablePeers(
  given: string,
  say: (text: string) => void,
  options: readonly string[] = [],
): Promise<string> {
  const folder = resolve(given)
  for (const file of ['run.mjs', 'package.json']) {
    if (!existsSync(join(folder, file)))
      throw new Error(`${folder} has no ${file}: that is no folder of peers.`)
  }
  if (existsSync(join(folder, 'node_modules'))) return folder
  const copy = join(
    fileURLToPath(import.meta.resolve('../../')),
    'node_modules/.cache/reeve-peers',
    basename(folder),
  )
  const isInstalled =
    existsSync(join(copy, 'node_modules')) &&
    sameText(join(folder, 'package.json'), join(copy, 'package.json'))
  copyFiles(folder, copy)
  if (!isInstalled) await install(copy, say, options)
  return copy
}

/** Copies contents only: the folder may be read-only, and its copy must not be. */
function copyFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) copyFiles(join(from, entry.name), join(to, entry.name))
    else writeFileSync(join(to, entry.name), readFileSync(join(from, entry.name)))
  }
}

async function install(
  folder: string,
  say: (text: string) => void,
  options: readonly string[],
): Promise<void> {
  say(`installing the peers in ${folder}`)
  // Under `npm run` this is that npm; its output belongs to stderr, as stdout is for figures.
  const npm = process.env['npm_execpath']
  const [program, ...args] = npm === undefined ? ['npm'] : [process.execPath, npm]
  const child = spawn(
    program ?? 'npm',
    [...args, 'install', '--no-package-lock', '--no-audit', '--no-fund', ...options],
    {
      cwd: folder,
      stdio: ['ignore', process.stderr, 'inherit'],
    },
  )
  const [code, signal] = await once(child, 'exit')
  if (code === 0) return
  throw new Error(
    `npm install of the peers ended with ${code ?? signal} (see above). Peers need the network once; install them by hand in a copy of the folder, and give that copy as --peers.`,
  )
}

function sameText(one: string, other: string): boolean {
  return existsSync(other) && readFileSync(one, 'utf8') === readFileSync(other, 'utf8')
}
