import { existsSync, readFileSync } from 'node:fs'
import type { Check } from '../cli/daemon-control.ts'
import { KeeperLink, KeeperRefused } from '../command/keeper-link.ts'
import { KeeperPulse } from '../command/keeper-pulse.ts'
import type { HomePaths } from '../home/paths.ts'
import { dataFolderAt } from '../keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../keeper/protocol/messages.ts'
import type { KeeperIdentity } from '../keeper/protocol/program-state.ts'
import { bootId } from '../os/boot.ts'
import { isAlive } from '../os/identity.ts'

const name = 'keeper'

/** Checks the keeper of a home without its daemon. A keeper that cannot be reached prevents every daemon from starting. */
export async function keeperFound(paths: HomePaths): Promise<Check> {
  const { keeper } = dataFolderAt(paths.commands, PROTOCOL)
  const identity = identityIn(keeper.identity)
  const isAnswering = await isAnswered(keeper.socket)
  if (identity === null || identity.boot !== bootId() || !isAlive(identity.osPid, identity.startTime))
    return isAnswering
      ? unknown(keeper.identity)
      : { name, state: 'good', found: 'none runs; a daemon starts it' }
  const { osPid } = identity
  if (isAnswering)
    return { name, state: 'good', found: `PID ${osPid} runs without a daemon, and keeps the commands` }
  const orKill = `look at ${keeper.log}; after kill -9 ${osPid} the next daemon starts another, which takes over the commands.`
  if (existsSync(keeper.socket))
    return {
      name,
      state: 'bad',
      found: `PID ${osPid} runs, but does not answer on ${keeper.socket}`,
      fix: `If it was stopped, kill -CONT ${osPid} lets it go on. Otherwise ${orKill}`,
    }
  return {
    name,
    state: 'bad',
    found: `PID ${osPid} runs, but its socket ${keeper.socket} is missing`,
    fix: `It creates a lost socket again within seconds. If it does not, ${orKill}`,
  }
}

/** A stopped keeper (SIGSTOP) still accepts connections, so this asks a question. A refusal, for want of a hello, is an answer. */
async function isAnswered(socket: string): Promise<boolean> {
  let link: KeeperLink | undefined
  try {
    const opened = await KeeperLink.open(
      socket,
      () => {},
      () => {},
    )
    link = opened
    return await new KeeperPulse(() => opened.ask('usage', { pids: [] }).catch(orRefused)).answers()
  } catch {
    // There is no socket, or nothing listens on it.
    return false
  } finally {
    link?.close()
  }
}

function orRefused(error: unknown): void {
  if (!(error instanceof KeeperRefused)) throw error
}

function unknown(identity: string): Check {
  return {
    name,
    state: 'poor',
    found: `one answers, but ${identity} does not say which`,
    fix: 'It writes that file again within seconds.',
  }
}

function identityIn(path: string): KeeperIdentity | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as KeeperIdentity
  } catch {
    // No keeper has announced itself.
    return null
  }
}
