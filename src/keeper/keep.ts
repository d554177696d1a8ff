import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { LiveFiles } from './home/live-files.ts'
import { takeLock } from './home/lock.ts'
import { prepareHome } from './home/prepare-home.ts'
import { FifoPool } from './program/fifo-pool.ts'
import { Programs, type ProgramsPlace } from './programs.ts'
import { type Home, homeAt } from './protocol/home.ts'
import { type KeeperIdentity, PROTOCOL } from './protocol/messages.ts'
import { Server } from './server/server.ts'
import { bootId, pidNamespace, startTimeOf } from './tree/identity.ts'

export interface KeepOptions {
  /** The data folder. */
  readonly folder: string
  readonly protocol?: number
  /** How long a keeper without daemon and programs waits for either. */
  readonly lingerMs?: number
}

/** Exit code of a keeper that found another on its folder. */
const EXIT_TAKEN = 75

/** Is the keeper of a folder until there is nothing to keep. Ends this OS process then. */
export async function keep(options: KeepOptions): Promise<void> {
  const home = homeAt(options.folder, options.protocol ?? PROTOCOL)
  const prepared = prepareHome(home)
  const lock = takeLock(home.keeper.lock)
  if (lock === null) process.exit(EXIT_TAKEN)
  const keeper = ownIdentity(options.protocol ?? PROTOCOL)
  const note = (message: string) => console.error(`${new Date().toISOString()} ${message}`)
  const lingerMs = options.lingerMs ?? 3000

  const fifos = new FifoPool(home.fifos, `ready-${keeper.protocol}.`)
  const place: ProgramsPlace = {
    keeper,
    homeId: prepared.id,
    output: home.output,
    fifosFolder: home.fifos,
    fifos,
    live: new LiveFiles(home.live),
    trouble: (pid, message) => {
      note(`${pid}: ${message}`)
      server.tell({ tell: 'trouble', pid, message })
    },
    hasDaemon: () => server.hasDaemon,
    tell: (tell) => server.tell(tell),
    grew: (pid, end) => server.grew(pid, end),
    changed: () => goIfIdle(lingerMs),
  }
  const programs = new Programs(place)
  const server: Server = new Server({
    keeper,
    token: prepared.token,
    programs,
    note,
    changed: (left) => goIfIdle(left ? 0 : lingerMs),
  })

  let going: NodeJS.Timeout | null = null
  const isIdle = () => programs.isEmpty && !server.hasDaemon
  function goIfIdle(afterMs: number) {
    if (going !== null) clearTimeout(going)
    going =
      programs.isEmpty && (afterMs === 0 || !server.hasDaemon) ? setTimeout(go, afterMs, afterMs === 0) : null
  }
  function go(asked: boolean) {
    if (!programs.isEmpty || (!asked && !isIdle())) return
    server.close()
    fifos.close()
    rmSync(home.keeper.identity, { force: true })
    lock?.release()
    process.exit(0)
  }

  process.on('SIGHUP', () => {})
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {
    if (programs.isEmpty) go(true)
    else note(`SIGTERM is not followed: ${programs.running} programs are kept. End them first.`)
  })
  process.on('uncaughtException', (error) => note(`Went on after: ${error.stack ?? error.message}`))
  process.on('unhandledRejection', (error) => note(`Went on after: ${String(error)}`))

  await listen(server, home)
  writeIdentity(home, keeper)
  goIfIdle(Math.max(lingerMs, FIRST_LINGER_MS))
}

/** The daemon that started this one may take its time. */
const FIRST_LINGER_MS = 10_000

/** The longest path that the system takes for a socket is 107 bytes. */
const LONGEST_SOCKET_PATH = 100

async function listen(server: Server, { keeper }: Home): Promise<void> {
  rmSync(keeper.socket, { force: true })
  if (Buffer.byteLength(keeper.socket) <= LONGEST_SOCKET_PATH) await server.listen(keeper.socket)
  else {
    const folder = openSync(keeper.folder, 'r')
    try {
      await server.listen(`/proc/self/fd/${folder}/socket`)
    } finally {
      closeSync(folder)
    }
  }
  chmodSync(keeper.socket, 0o600)
}

function writeIdentity({ keeper }: Home, identity: KeeperIdentity): void {
  const made = `${keeper.identity}.new`
  writeFileSync(made, JSON.stringify(identity), { mode: 0o600 })
  renameSync(made, keeper.identity)
}

function ownIdentity(protocol: number): KeeperIdentity {
  return {
    id: `kp_${randomBytes(8).toString('hex')}`,
    protocol,
    host: hostname(),
    boot: bootId(),
    pidNamespace: pidNamespace(),
    osPid: process.pid,
    startTime: startTimeOf(process.pid) ?? '',
  }
}
