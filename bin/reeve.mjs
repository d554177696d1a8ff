#!/bin/sh
':' //; exec node -- "$0" "$@"
// The line above is for the shell: without `--`, Node takes --env-file of any command that follows for its own.
// Starts Reeve under Node 24 or newer, whatever Node started this file. So: old syntax only, and no import
// that an old Node does not know. A clone runs its sources as they are, an installed package what was built.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compileCacheFolder } from './compile-cache.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const source = join(root, 'src', 'main.ts')
const isClone = existsSync(source)
const entry = isClone ? source : join(root, 'dist', 'main.js')

if (Number(process.versions.node.split('.')[0]) >= 24) {
  process.argv[1] = entry
  // What was compiled once starts in a third of the time.
  const cache = compileCacheFolder()
  if (cache !== null) nodeModule.enableCompileCache(cache)
  await import(pathToFileURL(entry).href)
} else {
  startUnder(bundledNode())
}

function bundledNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const name = `node-${platform}-${process.arch}`
  try {
    const folder = dirname(nodeModule.createRequire(import.meta.url).resolve(`${name}/package.json`))
    const exe = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    if (existsSync(exe)) return exe
  } catch {
    // Not installed: said below, together with what to do.
  }
  console.error(
    `Reeve needs Node 24 or newer; this is ${process.version}, and the package ${name} is not here.`,
  )
  console.error(
    'Start it with a newer Node, or install again with optional dependencies (npm ci --include=optional).',
  )
  process.exit(1)
}

// Its group is the one that its terminal listens to.
function isInForeground() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return group === foreground
  } catch {
    return process.stdin.isTTY === true
  }
}

function startUnder(exe) {
  const flags = isClone ? ['--conditions=reeve-source'] : []
  const child = spawn(exe, [...flags, '--', fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  // A terminal sends its signals to all of its foreground group, so the child has heard of them too. To hear of one twice
  // means something else: a daemon that is asked to stop again stops at once.
  const ofTerminals = ['SIGINT', 'SIGHUP', 'SIGQUIT']
  for (const signal of [...ofTerminals, 'SIGTERM'])
    process.on(signal, () => {
      if (!ofTerminals.includes(signal) || !isInForeground()) child.kill(signal)
    })
  child.on('error', (error) => {
    console.error(`Could not start ${exe}: ${error.message}`)
    process.exit(1)
  })
  // Ends the way the child ended, so that a shell or a supervisor sees the same from outside.
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
