import { join } from 'node:path'
import { RefusedError } from '../../core/errors.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import { refusal } from '../../core/refusal.ts'
import type { DataFolderPaths } from '../../keeper/protocol/data-folder-paths.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { CommandSecrets } from '../environment/command-secrets.ts'
import { CleanRanges } from './clean-ranges.ts'
import { logEnd, segmentOffsets } from './layout.ts'
import { HeldBack, HOLD_MS, type Masking } from './masking.ts'
import { readRange } from './read.ts'

/** `masked`: secrets are masked. `raw`: secrets are shown; the caller has checked the right to see them. */
export type View = 'masked' | 'raw'

/** The location of the output log of a command or an agent, and the masking for its readers. */
export class OutputAccess {
  readonly #home: DataFolderPaths
  readonly #secrets: CommandSecrets
  readonly #kernel: () => Kernel
  readonly #cleanRanges = new CleanRanges()
  readonly #held = new HeldBack(() => this.#kernel().edges.clock.now())

  constructor(home: DataFolderPaths, secrets: CommandSecrets, kernel: () => Kernel) {
    this.#home = home
    this.#secrets = secrets
    this.#kernel = kernel
  }

  /** The folder of the log. Refused if the log of a command that has begun is not there. */
  async folderOf(record: ProcessRecord): Promise<string> {
    const folder = join(this.#home.output, record.pid)
    // A command that was never begun has printed nothing, and neither has an agent without a log.
    if (record.program === null) return folder
    // A listing is enough: to look at every segment would cost more than to read a page of one.
    if ((await segmentOffsets(folder)) !== null) return folder
    throw new RefusedError(
      refusal(
        'no_output',
        `The output of ${record.pid} is not in this data folder: it was dropped to save space, or the command ran with another folder.`,
        'Keep more (commands.output.totalBytes), or ask the program that has the folder it ran with.',
      ),
    )
  }

  async masking(record: ProcessRecord, view: View): Promise<Masking | null> {
    const masker = view === 'raw' ? null : await this.#secrets.maskerFor(record, this.#kernel())
    if (masker === null) return null
    const tagged = record.kind === 'agent' || startSpecOf(record)['output'] === 'tagged'
    // A program that writes its log itself may rewrite it, so ranges that were scanned once may have changed.
    const kept = startSpecOf(record)['output'] === 'direct' ? {} : { cleanRanges: this.#cleanRanges }
    return { masker, tagged, final: hasEnded(record), mayShow: this.#held.mayShow, ...kept }
  }

  /**
   * The masking for a reader of whole lines, who wants the last one, too. Its end may be held back, in case it is the beginning
   * of a secret: that is waited for, and then shown.
   */
  async settledMasking(folder: string, record: ProcessRecord, view: View): Promise<Masking | null> {
    const masking = await this.masking(record, view)
    if (masking === null || masking.final) return masking
    const end = (await logEnd(folder)) ?? 0
    const last = await readRange(folder, Math.max(0, end - 1), 1, masking)
    if (last.next < end) await new Promise((resolve) => setTimeout(resolve, HOLD_MS))
    return { ...masking, mayShow: () => true }
  }
}

/**
 * Where the output of a command ended, if its keeper saw the end. Bytes behind it are late: descendants wrote them, and no
 * follower waits for them.
 */
export function outputEndIn({ kind, outcome }: ProcessRecord): number | undefined {
  if (kind !== 'command') return undefined
  const result = outcome?.result as { outputBytes?: number } | null | undefined
  return result?.outputBytes
}
