import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, statSync, truncateSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { messageOf, traceOf } from '../base/error-text.ts'
import { LineLog } from '../base/line-log.ts'
import { bootId, pidNamespace } from '../os/boot.ts'
import { descriptorLimitOf } from '../os/descriptors.ts'
import { startTimeOf } from '../os/identity.ts'
import { maxOpenLogs, OpenLogs } from '../output-log/open-logs.ts'
import { IdleExit } from './idle-exit.ts'
import { FifoPool } from './program/fifo-pool.ts'
import { LiveFiles } from './program/live-files.ts'
import { SpareFiles } from './program/spare-files.ts'
import { UsageLimits } from './program/usage-limits.ts'
import { UsageSamples } from './program/usage-samples.ts'
import { Programs, type ProgramsContext } from './programs.ts'
import { type DataFolderPaths, dataFolderAt } from './protocol/data-folder-paths.ts'
import { type Lock, takeLock } from './protocol/lock.ts'
import { PROTOCOL } from './protocol/messages.ts'
import { prepareDataFolder } from './protocol/prepare-data-folder.ts'
import type { KeeperIdentity } from './protocol/program-state.ts'
import { Recovery } from './recover-programs.ts'
import { KeeperAnnouncement } from './server/keeper-announcement.ts'
import { Server } from './server/server.ts'
import { Cgroups } from './tree/cgroups.ts'

export interface KeepOptions {
  /** The data folder. */
  readonly folder: string
  readonly protocol?: number
  /** How long a keeper without a daemon and programs waits for either. */
  readonly lingerMs?: number
}

/** Runs the keeper of a folder until it is not needed any more. Then it exits this OS process. */
export async function keep({ folder, protocol = PROTOCOL, lingerMs = 3000 }: KeepOptions): Promise<void> {
  const home = dataFolderAt(folder, protocol)
  const { id, token } = prepareDataFolder(home)
  const lock = await lockOf(home)
  if (lock === null) process.exit(EXIT_TAKEN)
  shortenLog(home.keeper.log)
  const keeper = ownIdentity(protocol)
  const cgroups = await Cgroups.open(id).catch((error: unknown) => {
    note(`There are no cgroups for programs: ${traceOf(error)}`)
    return null
  })

  const context: ProgramsContext = {
    keeper,
    homeId: id,
    output: home.output,
    cgroups,
    openLogs: new OpenLogs(maxOpenLogs(descriptorLimitOf('self') ?? Number.POSITIVE_INFINITY)),
    fifos: new FifoPool(home.fifos, `ready-${protocol}.`),
    usageLimits: new UsageLimits(),
    usageSamples: new UsageSamples(),
    live: new LiveFiles(home.live, new SpareFiles(join(home.keeper.folder, 'spare'))),
    trouble: (pid, message) => {
      note(`${pid}: ${message}`)
      server.tell({ tell: 'trouble', pid, message })
    },
    hasDaemon: () => server.hasDaemon,
    tell: (tell) => server.tell(tell),
    grew: (pid, end) => server.grew(pid, end),
    changed: () => stay.look(),
  }
  const programs = new Programs(context)
  const recovery = new Recovery(context, programs)
  const server: Server = new Server({
    keeper,
    token,
    programs,
    note,
    recover: () => recovery.run(),
    came: () => stay.serve(),
    went: () => stay.look(),
    left: () => stay.leave(),
  })
  const announcement = new KeeperAnnouncement({ home, server, identity: keeper, note })
  const stay = new IdleExit({
    lingerMs,
    keeps: () => !programs.isEmpty,
    hasDaemon: () => server.hasDaemon,
    go: async () => {
      announcement.withdraw()
      context.fifos.close()
      await cgroups?.close()
      lock.release()
      process.exit(0)
    },
  })

  followSignals(programs, stay)
  await recovery.run()
  await announcement.show()
  stay.begin(FIRST_LINGER_MS)
}

/** The exit code of a keeper that found another one in its folder. */
const EXIT_TAKEN = 75

const FIRST_LINGER_MS = 10_000

/**
 * Null if there is another keeper. A keeper that is exiting has withdrawn its identity already, and one that is starting has not
 * written it yet: then this one waits.
 */
async function lockOf(home: DataFolderPaths): Promise<Lock | null> {
  for (let waitedMs = 0; ; waitedMs += LOCK_LOOK_MS) {
    const lock = takeLock(home.keeper.lock)
    if (lock !== null || waitedMs > LOCK_MS || existsSync(home.keeper.identity)) return lock
    await pause(LOCK_LOOK_MS)
  }
}

const LOCK_MS = 5000
const LOCK_LOOK_MS = 20

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

/** A keeper with programs ignores SIGTERM, and survives uncaught errors: one error must not end all programs. */
function followSignals(programs: Programs, stay: IdleExit): void {
  process.on('SIGHUP', () => {})
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {
    if (programs.isEmpty) stay.leave()
    else note(`SIGTERM is not followed while programs are kept (${programs.count}). End them first.`)
  })
  process.on('uncaughtException', (error) => note(`Went on after ${error.stack ?? error.message}`))
  process.on('unhandledRejection', (error) => note(`Went on after ${traceOf(error)}`))
}

/** One old log of earlier keepers is kept. The current log is emptied in place, because this keeper has it open already. */
function shortenLog(path: string): void {
  try {
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (bytes <= MAX_LOG_BYTES) return
    copyFileSync(path, `${path}.1`)
    truncateSync(path)
  } catch (error) {
    note(`The log of earlier keepers can't be shortened: ${messageOf(error)}`)
  }
}

const MAX_LOG_BYTES = 1024 * 1024

/** The daemon that started this keeper has pointed its standard error at a log. */
const log = new LineLog(2, {
  lostLine: (count) => `${new Date().toISOString()} ${count} lines of this log were lost.`,
  write: writeSync,
})

/** Never throws, because it handles uncaught errors. */
function note(message: string): void {
  log.write(`${new Date().toISOString()} ${message}\n`)
}
