#!/bin/sh
':' //; exec node -- "$0" "$@"
// The line above is for the shell: without `--`, Node would take the --env-file of a command for its own option.
// Starts Reeve under Node 24 or newer, even if an older Node runs this file. So this file uses old syntax only, and no import that
// an old Node does not know. A clone runs its sources, an installed package its build.
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
  // Compiled code starts in a third of the time.
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
    // Not installed: reported below, with the remedy.
  }
  console.error(
    `Reeve needs Node 24 or newer; this is ${process.version}, and the package ${name} is not installed.`,
  )
  console.error(
    'Start it with a newer Node, or install again with optional dependencies (npm ci --include=optional).',
  )
  process.exit(1)
}

// Whether this process is in the foreground group of its terminal.
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
  // A terminal signals its whole foreground group, so the child has its signals already. A second one would mean something else: a
  // daemon that gets a second stop signal stops at once.
  const terminalSignals = ['SIGINT', 'SIGHUP', 'SIGQUIT']
  for (const signal of [...terminalSignals, 'SIGTERM'])
    process.on(signal, () => {
      if (!terminalSignals.includes(signal) || !isInForeground()) child.kill(signal)
    })
  child.on('error', (error) => {
    console.error(`Could not start ${exe}: ${error.message}`)
    process.exit(1)
  })
  // Exits as the child did, so that a shell or a supervisor sees the same.
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
