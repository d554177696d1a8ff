import { setTimeout as pause } from 'node:timers/promises'
import { embed, type Reeve } from 'reeve'
import { endForCertain } from '../command/os-processes.ts'
import { textOf } from '../command/read-output.ts'
import { until } from '../keeper/client.ts'
import { Random } from '../simulation/random.ts'
import { Daemons, Refused } from './daemons.ts'
import { SoakFolder } from './soak-folder.ts'
import { withCleanUp } from './with-clean-up.ts'
import { anySort, newPiece, type Piece, SORTS, type Sort, wrongIn } from './work.ts'

export interface SoakOptions {
  readonly minutes: number
  readonly seed: number
  /** Concurrent commands. */
  readonly commands: number
  /** Kills keepers, too. */
  readonly keeper: boolean
  readonly say: (line: string) => void
}

export interface SoakReport {
  readonly ended: number
  readonly abandoned: number
  readonly daemonsKilled: number
  /** Spawns that a kill of the daemon interrupted. */
  readonly spawnsCut: number
  readonly keepersKilled: number
  readonly problems: readonly string[]
}

interface Done {
  readonly piece: Piece
  readonly pid: string
}

const PROGRESS_MS = 5_000
/** Shorter than the pauses of the commands, so that kills hit every phase of a command. */
const DAEMON_LIVES_MS = { least: 50, most: 1_000 }
const KEEPER_LIVES_MS = { least: 2_000, most: 6_000 }
/** After this time a new daemon has taken over and holds the pipes open, so its keeper may be killed. */
const SETTLED_MS = 400

/** Replaces commands as they end while the daemon is killed repeatedly, and then checks each of them. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const soaked = new SoakFolder()
  const daemons = new Daemons(soaked.store, soaked.commands)
  const run = new Run(options, soaked, daemons)
  return withCleanUp(
    () => run.whole(),
    async () => {
      await daemons.end()
      await soaked.remove()
    },
  )
}

class Run {
  readonly #options: SoakOptions
  readonly #soaked: SoakFolder
  readonly #daemons: Daemons
  readonly #random: Random
  readonly #done: Done[] = []
  readonly #counts = { live: 0, daemonsKilled: 0, spawnsCut: 0, keepersKilled: 0 }
  #made = 0
  #isOver = false
  /** Kills daemon and keeper one at a time: output that neither holds open is lost when its program ends. */
  #killing: Promise<unknown> = Promise.resolve()

  constructor(options: SoakOptions, soaked: SoakFolder, daemons: Daemons) {
    this.#options = options
    this.#soaked = soaked
    this.#daemons = daemons
    this.#random = new Random(options.seed)
  }

  async whole(): Promise<SoakReport> {
    const { minutes, commands, keeper, say } = this.#options
    await this.#warmUp()
    const before = this.#soaked.open()
    const begun = Date.now()
    const telling = setInterval(() => say(this.#progress(Date.now() - begun)), PROGRESS_MS)
    try {
      const killing = [this.#killDaemons(), ...(keeper ? [this.#killKeepers()] : [])]
      const working = Array.from({ length: commands }, () => this.#work())
      await Promise.race([pause(minutes * 60_000), ...killing, ...working])
      this.#isOver = true
      await Promise.all([...working, ...killing])
    } finally {
      this.#isOver = true
      clearInterval(telling)
    }
    await this.#daemons.end()
    return this.#look(before)
  }

  /** Runs one command of each sort, so that a keeper's one-time descriptors are open before the count. */
  async #warmUp(): Promise<void> {
    await Promise.all(SORTS.map((sort) => this.#piece(sort)))
    await until('the keeper rests', async () => {
      const open = () => JSON.stringify([...this.#soaked.open()].sort())
      const before = open()
      await pause(500)
      return before === open()
    })
  }

  async #work(): Promise<void> {
    while (!this.#isOver) await this.#piece(anySort(this.#random))
  }

  async #piece(sort: Sort): Promise<void> {
    const piece = newPiece(this.#made++, sort, this.#random)
    this.#counts.live += 1
    const { record } = await this.#daemons.call('spawn', piece.request)
    const { pid } = record
    if (piece.isFed) await this.#feed(piece, pid)
    for (;;) {
      const waited = await this.#daemons.call('wait', { pid, timeoutMs: 60_000 })
      if (waited.type === 'ended') break
      if (this.#isOver && waited.type === 'timed_out') break
    }
    this.#counts.live -= 1
    this.#done.push({ piece, pid })
  }

  /** Types the lines. An interrupted write is repeated, and types nothing twice. */
  async #feed({ key, lines, sort }: Piece, pid: string): Promise<void> {
    const random = this.#random.fork()
    try {
      await this.#daemons.call('wait', { pid, until: { text: `${key} ready` }, timeoutMs: 60_000 })
      for (let line = 1; line <= lines; line++) {
        await this.#daemons.call('submit', { pid, text: String(line), seq: line })
        await pause(random.between(0, 120))
      }
      if (sort === 'typed') await this.#daemons.call('submit', { pid, text: 'end', seq: lines + 1 })
      else await this.#daemons.call('closeInput', { pid })
    } catch (error) {
      // Closed already by the interrupted call, or lost with its keeper, as its record says.
      const expected = ['already_ended', 'input_closed', ...(this.#options.keeper ? LOST_KEEPER_CODES : [])]
      if (!(error instanceof Refused && expected.includes(error.code))) throw error
    }
  }

  async #killDaemons(): Promise<void> {
    const random = this.#random.fork()
    while (!this.#isOver) {
      await this.#daemons.ready()
      await pause(random.between(DAEMON_LIVES_MS.least, DAEMON_LIVES_MS.most))
      await this.#exclusively(async () => {
        this.#counts.spawnsCut += await this.#daemons.kill()
        this.#counts.daemonsKilled += 1
        await this.#daemons.ready()
        if (this.#options.keeper) await pause(SETTLED_MS)
      })
    }
  }

  async #killKeepers(): Promise<void> {
    const random = this.#random.fork()
    while (!this.#isOver) {
      await pause(random.between(KEEPER_LIVES_MS.least, KEEPER_LIVES_MS.most))
      if (this.#isOver) return
      await this.#exclusively(async () => {
        const former = this.#soaked.keeper()
        if (former === null) return
        await endForCertain(former)
        this.#counts.keepersKilled += 1
        await until('another keeper has taken over', async () => {
          const { keeper } = await this.#daemons.call('status', {})
          return keeper?.available === true && keeper.id !== former.id
        })
        await pause(SETTLED_MS)
      })
    }
  }

  async #exclusively(task: () => Promise<void>): Promise<void> {
    const turn = this.#killing.then(task)
    this.#killing = turn.catch(() => {})
    await turn
  }

  /** Checks all commands with a last daemon in this OS process. */
  async #look(before: ReadonlyMap<string, number>): Promise<SoakReport> {
    const soaked = this.#soaked
    const reeve = await embed({ store: soaked.store, commands: soaked.commands, onTrouble: () => {} })
    const problems: string[] = []
    let abandoned = 0
    const ends = await endsOf(reeve)
    for (const { piece, pid } of this.#done) {
      const record = await reeve.show({ pid })
      if (record.status === 'abandoned') abandoned += 1
      const wrong = wrongIn(piece, record, await textOf(reeve, pid), this.#options.keeper)
      if (ends.get(pid) !== 1) wrong.push(`it has ended ${ends.get(pid) ?? 0} times`)
      problems.push(...wrong.map((what) => `${piece.key} (${piece.sort}, ${pid}): ${what}`))
    }
    if (ends.size !== this.#made)
      problems.push(`${this.#made} commands were made, and ${ends.size} have ended`)
    const { live } = await reeve.status()
    if (live > 0) problems.push(`${live} processes have not ended`)
    problems.push(...(await soaked.leftovers(before)))
    const keeper = soaked.keeper()
    await reeve.close()
    problems.push(...(await soaked.remains(keeper)), ...soaked.complaints())
    if (!this.#options.keeper)
      problems.push(...this.#daemons.troubles.map((trouble) => `a daemon said: ${trouble}`))
    const { daemonsKilled, spawnsCut, keepersKilled } = this.#counts
    return { ended: this.#done.length, abandoned, daemonsKilled, spawnsCut, keepersKilled, problems }
  }

  #progress(ms: number): string {
    const { live, daemonsKilled, spawnsCut, keepersKilled } = this.#counts
    const keepers = this.#options.keeper ? `, ${keepersKilled} keepers killed` : ''
    const daemons = `${daemonsKilled} daemons killed, amid ${spawnsCut} spawns${keepers}`
    return `${Math.round(ms / 1000)} s: ${this.#done.length} commands have ended, ${live} are at work; ${daemons}`
  }
}

/** Refusals for a command whose keeper has just died. */
const LOST_KEEPER_CODES = ['no_input', 'outcome_unknown', 'input_full']

/** How many `ended` events each process has. */
async function endsOf(reeve: Reeve): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  for (let after = 0; ; ) {
    const { events, position } = await reeve.changes({ after, limit: 1_000 })
    if (events.length === 0) return ends
    for (const { pid, type } of events) if (type === 'ended') ends.set(pid, (ends.get(pid) ?? 0) + 1)
    after = position
  }
}
