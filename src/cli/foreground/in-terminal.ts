import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { endedLater } from './ended.ts'
import { passSignals } from './pass-signals.ts'
import { suspend, suspendsAtCtrlZ } from './suspend.ts'
import { terminalOf } from './terminal.ts'

type ProcessRecord = OutputOf<'show'>

const CTRL_Z = 0x1a

/** The command has a terminal of its own, and this one shows it: keys, colours and size go through. */
export async function runInTerminal(
  context: Context<unknown>,
  reeve: ReeveVerbs,
  record: ProcessRecord,
): Promise<ProcessRecord | null> {
  const { pid } = record
  const terminal = terminalOf(context.around)
  context.screenIsTaken = true
  // From its first byte: it may have printed before anybody was attached.
  const attachment = await reeve.attach({ pid, scrollback: Number.MAX_SAFE_INTEGER })
  const over = new AbortController()
  const ended = endedLater(reeve, pid, over.signal)
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
