import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { codeOf } from '../base/error-text.ts'
import type { Check } from '../cli/daemon-control.ts'
import { connectUnasked } from '../client/connect.ts'
import { ReeveError } from '../core/errors.ts'
import type { HomePaths } from '../home/paths.ts'
import { presentDaemon } from '../home/present-daemon.ts'
import type { Reeve } from '../verbs/reeve.ts'
import { keeperFound } from './keeper-check.ts'
import { configuration } from './load-settings.ts'
import { machineChecks } from './machine-checks.ts'
import { SecretFile } from './secret-file.ts'
import type { Settings } from './settings.ts'
import { storeFound } from './store-check.ts'

const MiB = 1024 * 1024
const SAMPLED_RECORDS = 20
const ANSWER_MS = 5_000
const MAX_EVENTS = 1_000

/** Checks everything that Reeve needs, one by one, and the policy file of a folder. Changes nothing. */
export async function* checks(home: HomePaths, folder: string): AsyncGenerator<Check, void, void> {
  yield* machineChecks()
  const settings = settingsOf(home)
  if ('state' in settings) {
    yield settings
    yield rights(home)
  } else {
    const file = settings.store ?? home.store
    yield clock(file)
    yield disk(home, settings.minFreeBytes)
    yield writable(home)
    yield rights(home)
    yield await storeFound(file, home)
  }
  yield secrets(home)
  const running = presentDaemon(home)
  if (running === null) {
    yield { name: 'daemon', state: 'good', found: 'none runs; any subcommand that needs one starts it' }
    yield await keeperFound(home)
    return
  }
  if (running.stopping === true) {
    yield { name: 'daemon', state: 'good', found: `PID ${running.osPid} is stopping` }
    return
  }
  const reeve = connectUnasked({ home: home.folder })
  try {
    await readPolicyFile(reeve, folder)
    const { troubles = [], unreadable = [] } = await reeve.status(
      {},
      { signal: AbortSignal.timeout(ANSWER_MS) },
    )
    yield { name: 'daemon', state: 'good', found: `PID ${running.osPid} answers` }
    yield await keeper(reeve)
    for (const { code, message, remedy } of troubles) {
      // The check of the file itself has said this already.
      if (code !== 'secrets_unusable') yield { name: 'trouble', state: 'bad', found: message, fix: remedy }
    }
    yield unreadable.length === 0 ? await records(reeve) : unreadableRecords(unreadable)
  } catch (error) {
    const fix = `Look at ${home.log}, or start another: kill -9 ${running.osPid} loses nothing.`
    yield { name: 'daemon', state: 'bad', found: (error as Error).message, fix }
    yield await keeperFound(home)
  } finally {
    await reeve.close()
  }
}

/** An error in it is among the troubles of the daemon then. */
async function readPolicyFile(reeve: Reeve, folder: string): Promise<void> {
  try {
    await reeve.policyFile({ folder }, { signal: AbortSignal.timeout(ANSWER_MS) })
  } catch (error) {
    // Most folders have none.
    if (!(error instanceof ReeveError) || error.code !== 'not_found') throw error
  }
}

/** The settings that a daemon would start with, or a failed check that says why it would not start. */
function settingsOf(home: HomePaths): Settings | Check {
  try {
    return configuration({}, process.env, home).values
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    return { name: 'settings', state: 'bad', found: error.message, fix: error.remedy }
  }
}

/** Compares the clock with the store's last write: a clock that was set back makes ages wrong. */
function clock(store: string): Check {
  const name = 'clock'
  const now = Date.now()
  const written = statSync(store, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (written <= now + 2_000) return { name, state: 'good', found: new Date(now).toISOString() }
  const found = `${new Date(now).toISOString()}, but the store was written at ${new Date(written).toISOString()}`
  return { name, state: 'bad', found, fix: 'Set the clock (timedatectl set-ntp true).' }
}

function disk({ folder }: HomePaths, minFreeBytes: number): Check {
  const name = 'disk'
  const { bavail, bsize } = statfsSync(existing(folder))
  const free = bavail * bsize
  const found = `${Math.floor(free / MiB)} MiB free at ${folder}`
  if (free > 10 * minFreeBytes) return { name, state: 'good', found }
  const fix = `Free some space: with less than ${Math.ceil(minFreeBytes / MiB)} MiB, commands that print are held back.`
  return { name, state: free > minFreeBytes ? 'poor' : 'bad', found, fix }
}

function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder))
}

function writable({ folder }: HomePaths): Check {
  const name = 'home'
  try {
    accessSync(existing(folder), constants.R_OK | constants.W_OK | constants.X_OK)
    return { name, state: 'good', found: `${folder} can be written to` }
  } catch (error) {
    const isReadOnly = codeOf(error) === 'EROFS'
    return {
      name,
      state: 'bad',
      found: `${folder} ${isReadOnly ? 'is on a read-only file system' : 'cannot be written to by this user'}`,
      fix: isReadOnly
        ? `Mount it for writing (mount -o remount,rw), or choose another folder with REEVE_HOME.`
        : `Correct its permissions (ls -ld ${folder}), or choose another folder with REEVE_HOME.`,
    }
  }
}

/** Only the owner may read the home, the tokens and the socket. */
function rights({ folder, token, tokens, socket, log }: HomePaths): Check {
  const name = 'rights'
  const open = [folder, token, tokens, socket, log].filter((path) => {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat !== undefined && (stat.mode & 0o077) !== 0
  })
  if (!existsSync(folder)) return { name, state: 'good', found: `${folder} is not there yet` }
  if (open.length === 0) return { name, state: 'good', found: 'the home is for its owner alone' }
  return {
    name,
    state: 'bad',
    found: `others may read ${open.join(', ')}`,
    fix: `chmod go= ${open.join(' ')}`,
  }
}

/** A secrets file that others can read or change is refused: a process that names a secret then fails to start. */
function secrets(home: HomePaths): Check {
  const name = 'secrets'
  try {
    const { length } = new SecretFile(home).list()
    return { name, state: 'good', found: length === 0 ? 'none are set' : `${length} in ${home.secrets}` }
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    return { name, state: 'bad', found: error.message, fix: error.remedy }
  }
}

async function keeper(reeve: Reeve): Promise<Check> {
  const { keeper } = await reeve.status()
  const name = 'keeper'
  if (keeper?.available) return { name, state: 'good', found: `PID ${keeper.osPid} answers` }
  const fix = 'A new one is started within a second; if not, look at daemon.log and commands/keeper/.'
  return { name, state: 'bad', found: 'it cannot be reached', fix }
}

/** A record is the fold of its events: verifies that for a sample of processes. */
async function records(reeve: Reeve): Promise<Check> {
  const name = 'records'
  const { refold } = await import('../core/process/fold.ts')
  const { untypedEvent } = await import('../core/process/event.ts')
  const { processes } = await reeve.list({ filter: { status: 'any' }, limit: SAMPLED_RECORDS })
  const wrong: string[] = []
  let looked = 0
  for (const { record } of processes) {
    const { events, count } = await reeve.events({ pid: record.pid, limit: MAX_EVENTS })
    const now = await reeve.show({ pid: record.pid })
    // A process that changes meanwhile, or has more events than were read, cannot be compared.
    if (count > events.length || now.revision !== count || now.revision !== events.length) continue
    looked++
    const { heldBack: _, ...folded } = now
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(refold(events.map(untypedEvent)))), folded))
      wrong.push(record.pid)
  }
  if (wrong.length === 0) return { name, state: 'good', found: `${looked} of them are what their events say` }
  const fix = 'This should not happen: please report it, with reeve events of one of them.'
  return { name, state: 'bad', found: `${wrong.join(', ')} differ from their events`, fix }
}

function unreadableRecords(pids: readonly string[]): Check {
  return {
    name: 'records',
    state: 'bad',
    found: `the records of ${pids.join(', ')} cannot be read`,
    fix: 'Everything else goes on without them. Restore the store from a copy, or prune them once they have ended.',
  }
}
