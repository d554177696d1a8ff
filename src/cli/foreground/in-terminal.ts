import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { passSignals } from './pass-signals.ts'
import { suspend, suspendsAtCtrlZ } from './suspend.ts'
import { terminalOf } from './terminal.ts'
import { beginWaitForEnd } from './wait-for-end.ts'

type ProcessRecord = OutputOf<'show'>

const CTRL_Z = 0x1a

/** Connects this terminal to that of the command: keys, colours and size are passed through. */
export async function runInTerminal(
  context: Context<unknown>,
  reeve: ReeveVerbs,
  record: ProcessRecord,
): Promise<ProcessRecord | null> {
  const { pid } = record
  const terminal = terminalOf(context.around)
  context.screenIsTaken = true
  // From the first byte: the command may have printed before this was attached.
  const attachment = await reeve.attach({ pid, scrollback: Number.MAX_SAFE_INTEGER })
  const over = new AbortController()
  const ended = beginWaitForEnd(reeve, pid, over.signal)
  const passOn = passSignals(reeve, pid, ['SIGTERM', 'SIGINT'])
  const resize = () => attachment.resize(terminal.size()).catch(() => undefined)
  const stopKeys = terminal.raw(async (keys) => {
    if (keys.length === 1 && keys[0] === CTRL_Z && (await suspendsAtCtrlZ(record.program?.osPid))) {
      await suspend(reeve, pid, terminal)
      await resize()
    } else void attachment.write(keys).catch(() => undefined)
  })
  const stopSizes = terminal.onResize(() => void resize())
  try {
    for await (const { bytes } of attachment) await terminal.show(bytes)
    return await ended
  } finally {
    over.abort()
    stopSizes()
    stopKeys()
    passOn()
    attachment.detach()
  }
}
