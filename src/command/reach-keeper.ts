import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../base/error-text.ts'
import { ReeveError } from '../core/errors.ts'
import { type DataFolderPaths, dataFolderAt } from '../keeper/protocol/data-folder-paths.ts'
import { type Asks, PROTOCOL } from '../keeper/protocol/messages.ts'
import { alreadyRunning } from './daemon-lock.ts'
import type { Listening } from './keeper-connection.ts'
import { KeeperLink, KeeperRefused } from './keeper-link.ts'
import { KeeperSide, type KeeperSideOptions } from './keeper-side.ts'
import { startKeeper } from './start-keeper.ts'

export interface Reached {
  readonly link: KeeperLink
  readonly hello: Asks['hello'][1]
}

export interface Daemon {
  readonly osPid: number
  readonly startTime: string
  readonly id: string
}

const START_MS = 10_000
const LOOK_MS = 5

/** Connects to the keeper of this folder, and starts one if there is none. */
export async function reachKeeper(
  home: DataFolderPaths,
  daemon: Daemon,
  listening: Listening,
): Promise<Reached> {
  const there = await tryReach(home, PROTOCOL, daemon, listening)
  if (there !== undefined) return there
  const failed = startKeeper(home)
  for (let waited = 0; waited < START_MS; waited += LOOK_MS) {
    const started = await tryReach(home, PROTOCOL, daemon, listening)
    if (started !== undefined) return started
    const why = failed()
    if (why !== undefined) throw unstartable(home, why)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  throw unstartable(home, `it did not answer within ${START_MS / 1000} s`)
}

/** Connects to keepers of other protocols that still have programs. They get no new commands. */
export async function reachOlder(
  home: DataFolderPaths,
  daemon: Daemon,
  options: Omit<KeeperSideOptions, 'serves' | 'reach'>,
): Promise<KeeperSide[]> {
  const older: KeeperSide[] = []
  for (const name of readdirSync(join(home.folder, 'keeper'))) {
    const protocol = Number(name)
    if (!Number.isInteger(protocol) || protocol === PROTOCOL) continue
    const there = dataFolderAt(home.folder, protocol)
    const reach = (listening: Listening) => tryReach(there, protocol, daemon, listening)
    const side = await KeeperSide.open({ ...options, serves: [], reach })
    if (side !== undefined) older.push(side)
  }
  return older
}

/** Undefined if no keeper listens there. */
async function tryReach(
  home: DataFolderPaths,
  protocol: number,
  daemon: Daemon,
  { onTell, onLost }: Listening,
): Promise<Reached | undefined> {
  let over = false
  let link: KeeperLink | undefined
  try {
    link = await KeeperLink.open(home.keeper.socket, onTell, () => {
      if (over) onLost()
    })
    const token = readFileSync(home.keeper.token, 'utf8').trim()
    const hello = await link.ask('hello', { protocol, token, daemon })
    over = true
    return { link, hello }
  } catch (error) {
    link?.close()
    if (error instanceof KeeperRefused) throw refused(home, error)
    const code = codeOf(error)
    // LinkLost: the keeper was just exiting.
    if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'EPIPE')
      return undefined
    if ((error as Error).name === 'LinkLost') return undefined
    throw error
  }
}

function refused(home: DataFolderPaths, { refusal, message }: KeeperRefused): ReeveError {
  if (refusal.code === 'busy') return alreadyRunning(home, refusal.osPid)
  return new ReeveError(
    'keeper_unavailable',
    `The keeper of ${home.folder} refuses to work with this program: ${message}`,
    'The folder may belong to another program. Give this program a folder of its own.',
  )
}

function unstartable(home: DataFolderPaths, why: string): ReeveError {
  return new ReeveError(
    'keeper_unavailable',
    `No keeper could be started for ${home.folder}: ${why}.`,
    'Look at its log, and whether the folder can be written to.',
  )
}
