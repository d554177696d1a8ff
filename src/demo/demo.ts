import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../base/error-text.ts'
import { embed } from '../embed/embed.ts'
import type { Reeve } from '../verbs/reeve.ts'
import { CommandPlace } from './commands.ts'
import { Ledger } from './ledger.ts'
import { Screen } from './screen.ts'
import { type Stage, tell } from './story.ts'
import { isGone, killHard, looking, startWorker } from './worker-process.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Five times what it takes, for a machine that is busy with other things. */
const DEADLINE_MS = 40_000
/** How long the keeper may take to go when it has nothing left to keep. */
const KEEPER_MS = 3_000

/** Two kernels on one file, one of them killed in the middle; then the proofs. The answer is the exit code. */
export async function demo(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-demo-'))
  const over = new AbortController()
  const deadline = setTimeout(
    () => over.abort(new Error(`It was not over after ${DEADLINE_MS / 1_000} s.`)),
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

/** What the story needs, and how to be rid of it, wherever the story was left. */
function setUp(folder: string, over: AbortController): { stage: Stage; clear: () => Promise<void> } {
  const store = join(folder, 'reeve.db')
  const file = join(folder, 'ledger')
  const ledger = new Ledger(file)
  const place = new CommandPlace(folder, file)
  let worker: ChildProcess | undefined
  let back: Promise<Reeve> | undefined
  const comeBack = () => {
    back ??= embed({ store, commands: place.options })
    return back
  }
  const stage: Stage = {
    store,
    ledger,
    place,
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
    if (!place.isUsed) return
    // Its commands did not die with it. They live as long as a daemon does, and so end with this one.
    const reeve = await comeBack()
    const { keeper } = await reeve.status()
    await reeve.close()
    if (keeper !== null) await gone(keeper.osPid)
  }
  return { stage, clear }
}

async function gone(keeper: number): Promise<void> {
  try {
    await looking(() => isGone(keeper), AbortSignal.timeout(KEEPER_MS))
  } catch (error) {
    throw new Error(`The keeper, PID ${keeper}, has nothing left to keep and did not go.`, { cause: error })
  }
}
