import type { Intent } from '../../src/core/process/intent.ts'
import type { Edges } from '../../src/kernel/edges.ts'
import type { Work } from '../../src/kernel/executor.ts'
import { Kernel, type KernelOptions } from '../../src/kernel/kernel.ts'
import type { Done } from '../../src/kernel/perform.ts'
import type { Ledger } from './ledger.ts'
import type { Stage } from './stage.ts'

interface Watching {
  readonly name: string
  was(holder: string | null | undefined): boolean
  readonly stage: Stage
  readonly ledger: Ledger
}

/** Compares the answers of a kernel with the log at once. */
export class WatchedKernel extends Kernel {
  readonly #peer: Watching

  constructor(edges: Edges, options: KernelOptions, peer: Watching) {
    super(edges, options)
    this.#peer = peer
  }

  override async perform(intent: Intent): Promise<Done> {
    const performed = await super.perform(intent)
    checkPerformed(this.#peer, intent, performed)
    return performed
  }

  override async performAs(work: Work, intent: Parameters<Kernel['performAs']>[1]): Promise<Done> {
    const performed = await super.performAs(work, intent)
    const { stage, ledger, name } = this.#peer
    const lease = ledger.entry(work.record.pid)?.leases[performed.row.record.revision - 1]
    if (performed.type === 'appended' && !this.#peer.was(lease?.holder))
      stage.violated(
        'a stale fence writes nothing',
        `${name} wrote ${intent.type} of ${work.record.pid}, which was ${lease?.holder}'s`,
      )
    return performed
  }
}

/** Checks that an acknowledged event is in the log, and was written under the fence it carried. */
function checkPerformed({ stage, ledger, name }: Watching, intent: Intent, performed: Done): void {
  if (performed.type === 'kept') return
  const entry = ledger.entry(intent.pid)
  const seq = performed.type === 'replayed' ? performed.event.seq : performed.row.record.revision
  const event = entry?.events[seq - 1]
  if (entry === undefined || event === undefined) {
    stage.violated(
      'no lost acknowledged write',
      `${name} was told of event ${seq} of ${intent.pid}, which is not there`,
    )
    return
  }
  if (performed.type !== 'appended' || !('fence' in intent) || intent.fence === null) return
  const lease = entry.leases[seq - 1]
  if (lease?.holder !== intent.fence.holder || lease.fence !== intent.fence.fence)
    stage.violated(
      'a stale fence writes nothing',
      `${intent.type} of ${intent.pid} with fence ${intent.fence.fence} was accepted under ${lease?.fence} of ${lease?.holder}`,
    )
}
