import { ReeveError } from '../core/errors.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Kind } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { claimAnnounced } from './claim.ts'
import { ClaimScheduler, type ClaimYield } from './claim-scheduler.ts'
import type { Edges } from './edges.ts'
import type { Kernel } from './kernel.ts'
import type { ServedProcesses } from './served-processes.ts'

const CLAIM_PAGE = 200

export interface WorkClaimsOptions {
  readonly served: ServedProcesses
  readonly holder: () => string
  /** How many processes may run at once, those that wait not counted; it may change. */
  readonly most: () => number
  readonly usedSlots: () => number
  /** False while the kernel's own row may have lapsed: other kernels could then take over any process that it claims. */
  readonly mayClaim: () => boolean
  readonly begin: (row: ProcessRow) => void
  /** Called whenever a claim or a registration returned. */
  readonly onReturned: () => void
}

/** How one holder gets work: by claims of due processes that it serves, and by slots that registrations reserve. */
export class WorkClaims {
  readonly #edges: Edges
  readonly #kernel: Kernel
  readonly #options: WorkClaimsOptions
  readonly #slots: Slots
  readonly #grants = new PendingGrants()
  readonly #scheduler: ClaimScheduler
  /** A claim may have been committed although its write failed. */
  #mayHoldUnknown = false
  #isClosed = false
  #onSettled: (() => void) | undefined

  constructor(edges: Edges, kernel: Kernel, options: WorkClaimsOptions) {
    this.#edges = edges
    this.#kernel = kernel
    this.#options = options
    this.#slots = new Slots(options.most, options.usedSlots)
    this.#scheduler = new ClaimScheduler(edges.clock, {
      hasRoom: () => !this.#isClosed && !options.served.isEmpty && this.#slots.free() > 0,
      claim: () => this.#claim(),
      onClaimed: () => this.#returned(),
      onError: (error) => {
        this.doubt(error)
        if (!this.#isClosed) edges.onTrouble(error, 'claiming')
      },
    })
  }

  /** Whether a claim or a registration is under way. */
  get isPending(): boolean {
    return this.#slots.reserved > 0 || this.#scheduler.isClaiming
  }

  look(): void {
    this.#scheduler.look()
  }

  lookAndReschedule(): void {
    this.#scheduler.lookAndReschedule()
  }

  lookAt(due: number): void {
    this.#scheduler.lookAt(due)
  }

  /** Looks for work that was skipped because no slot was free. */
  lookIfSlotsWereFull(): void {
    if (this.#slots.hadTooFew()) this.look()
  }

  /** Takes a free slot for a process that is about to be registered, if it can begin here at once. */
  reserve(kind: Kind, spec: JsonObject): 'reserved' | 'full' | 'not_here' {
    if (this.#options.served.executorOf(kind, spec) === undefined) return 'not_here'
    if (this.#slots.free() <= 0) return 'full'
    if (this.#isClosed || !this.#options.mayClaim()) return 'not_here'
    this.#takeSlot()
    return 'reserved'
  }

  /** Frees a reserved slot. `holder`: as it was when the slot was taken. */
  free(holder = this.#options.holder()): void {
    this.#grants.end(holder)
    this.#slots.reserved -= 1
    this.lookIfSlotsWereFull()
    this.#returned()
  }

  /** Resolves when no write that may grant this holder a lease is under way. */
  grantsEnded(holder: string): Promise<void> {
    return this.#grants.ended(holder)
  }

  /** Remembers the error of a claiming write, if the claim may have been committed. */
  doubt(error: unknown): void {
    if (error instanceof ReeveError && error.code === 'outcome_unknown') this.#mayHoldUnknown = true
  }

  /** Runs `adopt` if this holder may hold processes that it does not know. */
  async adoptUnknown(adopt: () => Promise<void>): Promise<void> {
    if (!this.#mayHoldUnknown || this.#isClosed) return
    this.#mayHoldUnknown = false
    const holder = this.#takeSlot()
    try {
      await adopt()
    } catch (error) {
      this.#mayHoldUnknown = true
      throw error
    } finally {
      this.free(holder)
    }
  }

  /** Nothing new is claimed or reserved. */
  close(): void {
    this.#isClosed = true
    this.#scheduler.stop()
  }

  /** Resolves when no claim and no registration is under way. */
  settled(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#onSettled = resolve
      this.#notifySettled()
    })
  }

  #takeSlot(): string {
    const holder = this.#options.holder()
    this.#slots.reserved += 1
    this.#grants.begin(holder)
    return holder
  }

  #returned(): void {
    this.#options.onReturned()
    this.#notifySettled()
  }

  #notifySettled(): void {
    if (!this.isPending) this.#onSettled?.()
  }

  async #claim(): Promise<ClaimYield> {
    const { store, clock } = this.#edges
    const { served, mayClaim, begin } = this.#options
    // Waiting first lets attempts that ended in the same commit be forgotten, so that one claim refills all their slots.
    // A row that may have lapsed is renewed here: a clock that jumped ahead must not delay work until the next renewal.
    await (this.#isClosed ? undefined : this.#kernel.sure())
    const free = Math.min(CLAIM_PAGE, this.#slots.free())
    const { serves, here } = served
    if (serves.length === 0) return 'none'
    if (free <= 0) return 'some'
    const at = clock.now()
    const pids = await store.ask({ ask: 'claimable', serves, here, at, limit: free })
    if (this.#isClosed || !mayClaim()) return 'none'
    if (pids.length === 0) {
      const due = await store.ask({ ask: 'nextDue', serves, here, at })
      if (due !== null) this.lookAt(due)
      return 'none'
    }
    const holder = this.#options.holder()
    this.#grants.begin(holder)
    try {
      const claimed = await claimAnnounced(this.#edges, pids, { holder, here })
      if (claimed === 'unannounced') {
        this.#announceAgain()
        return 'none'
      }
      for (const row of claimed) begin(row)
    } finally {
      this.#grants.end(holder)
    }
    return pids.length === free ? 'more' : 'some'
  }

  /** The holder's row is gone: the kernel announces itself again, and then looks for work. */
  #announceAgain(): void {
    this.#kernel.renew().catch((error: unknown) => this.#edges.onTrouble(error, 'renewing'))
  }
}

/**
 * The slots of one holder: a running process has one, a waiting process has none, and a process that is about to be registered
 * reserves one. Waits may end while all slots are used, so more may be used than there are.
 */
class Slots {
  readonly #most: () => number
  readonly #used: () => number
  #hadTooFew = false
  reserved = 0

  /** `most` may change at any time. */
  constructor(most: () => number, used: () => number) {
    this.#most = most
    this.#used = used
  }

  /** How many more processes may begin now. */
  free(): number {
    const free = this.#most() - this.#used() - this.reserved
    if (free <= 0) this.#hadTooFew = true
    return free
  }

  /** Whether no slot was free since the last call: work may have been passed over. Resets itself. */
  hadTooFew(): boolean {
    const hadTooFew = this.#hadTooFew
    this.#hadTooFew = false
    return hadTooFew
  }
}

/** Counts, per holder, the writes that may grant it a lease and have not returned yet. */
class PendingGrants {
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Map<string, (() => void)[]>()

  begin(holder: string): void {
    this.#counts.set(holder, (this.#counts.get(holder) ?? 0) + 1)
  }

  end(holder: string): void {
    const left = (this.#counts.get(holder) ?? 0) - 1
    if (left > 0) {
      this.#counts.set(holder, left)
      return
    }
    this.#counts.delete(holder)
    for (const resolve of this.#waiting.get(holder) ?? []) resolve()
    this.#waiting.delete(holder)
  }

  /** Resolves when no write that may grant this holder a lease is under way. */
  ended(holder: string): Promise<void> {
    if (!this.#counts.has(holder)) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.set(holder, [...(this.#waiting.get(holder) ?? []), resolve])
    })
  }
}
