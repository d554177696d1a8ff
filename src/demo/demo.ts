import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../base/error-text.ts'
import { embed } from '../embed/embed.ts'
import type { Reeve } from '../verbs/reeve.ts'
import { DemoCommands } from './commands.ts'
import { Ledger } from './ledger.ts'
import { Screen } from './screen.ts'
import { type Stage, tell } from './story.ts'
import { isGone, killHard, pollUntil, startWorker } from './worker-process.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Five times the usual duration, for a busy machine. */
const DEADLINE_MS = 40_000
/** How long the keeper may take to exit when it has no commands left. */
const KEEPER_MS = 3_000

/** Runs two kernels on one file, kills one of them in the middle, and checks the proofs. Resolves with the exit code. */
export async function demo(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-demo-'))
  const over = new AbortController()
  const deadline = setTimeout(
    () => over.abort(new Error(`It had not finished after ${DEADLINE_MS / 1_000} s.`)),
    DEADLINE_MS,
  )
  const scene = setUp(folder, over)
  let cleaned: Promise<void> | undefined
  const cleanUp = () => {
    cleaned ??= scene.clear().finally(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    return cleaned
  }
  const leave = (signal: NodeJS.Signals) => {
    scene.stage.screen.end()
    void cleanUp().finally(() => process.kill(process.pid, signal))
  }
  for (const signal of SIGNALS) process.once(signal, leave)
  try {
    return await tell(scene.stage)
  } catch (error) {
    scene.stage.screen.verdict(false, `The demo failed: ${messageOf(error)}`)
    return 1
  } finally {
    over.abort()
    clearTimeout(deadline)
    await cleanUp()
    for (const signal of SIGNALS) process.removeListener(signal, leave)
  }
}

/** Sets up the parts of the story. `clear` removes them, however far the story came. */
function setUp(folder: string, over: AbortController): { stage: Stage; clear: () => Promise<void> } {
  const store = join(folder, 'reeve.db')
  const file = join(folder, 'ledger')
  const ledger = new Ledger(file)
  const commandFolder = new DemoCommands(folder, file)
  let worker: ChildProcess | undefined
  let back: Promise<Reeve> | undefined
  const comeBack = () => {
    back ??= embed({ store, commands: commandFolder.options })
    return back
  }
  const stage: Stage = {
    store,
    ledger,
    commandFolder,
    over,
    comeBack,
    screen: new Screen(process.stdout),
    startWorker: () => {
      worker = startWorker([folder, store, file], (said) =>
        over.abort(new Error(`The worker died early. ${said}`)),
      )
      return worker
    },
  }
  const clear = async () => {
    if (worker !== undefined) await killHard(worker)
    if (!commandFolder.isUsed) return
    // The worker's commands outlived it. Their lifetime is the daemon, so they end when this kernel closes.
    const reeve = await comeBack()
    const { keeper } = await reeve.status()
    await reeve.close()
    if (keeper !== null) await gone(keeper.osPid)
  }
  return { stage, clear }
}

async function gone(keeper: number): Promise<void> {
  try {
    await pollUntil(() => isGone(keeper), AbortSignal.timeout(KEEPER_MS))
  } catch (error) {
    throw new Error(`The keeper, PID ${keeper}, has no commands left but did not exit.`, { cause: error })
  }
}
