import { randomUUID } from 'node:crypto'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { answerHere, answerPrompt, typedAnswer } from './answer-here.ts'
import { type Approval, type AskedPeople, errorText } from './asked-people.ts'
import { typedContent } from './input-content.ts'
import { SESSION_HELP } from './session-help.ts'
import type { SessionPrinter } from './session-printer.ts'

type Phase = 'idle' | 'running' | 'paused' | 'ended'

interface Session {
  readonly pid: string
  readonly printer: SessionPrinter
  readonly say: (text: string) => void
  readonly phase: () => Phase
  /** A turn has begun with an input that was typed. */
  readonly started: () => void
}

/** What a person types at a session, one line after the other: answers to requests that wait, inputs for the agent, and `/help`. */
export class SessionInput {
  readonly #context: Context
  readonly #reeve: ReeveVerbs
  readonly #session: Session
  #asked: AskedPeople | null = null
  /** The request whose prompt is on the screen. A line answers no other one. */
  #prompted: string | null = null
  #last: Promise<void> = Promise.resolve()
  /** Lines that are being passed on: the prompt follows them. */
  #busy = 0

  constructor(context: Context, reeve: ReeveVerbs, session: Session) {
    this.#context = context
    this.#reeve = reeve
    this.#session = session
  }

  answers(asked: AskedPeople): void {
    this.#asked = asked
  }

  /** Shows the prompt: for the oldest request that waits, else for an agent that does not work. */
  prompt(): void {
    // Its answer shows the prompt.
    if (this.#busy > 0 || this.#asked?.isChecking === true) return
    const { printer, phase } = this.#session
    const [first] = this.#waiting
    if (first === undefined && this.#prompted === null) {
      if (phase() !== 'running') printer.prompt()
      return
    }
    if (first?.id !== this.#prompted) printer.endLine()
    this.#prompted = first?.id ?? null
    if (first !== undefined) printer.prompt(answerPrompt(this.#waiting))
    else if (phase() !== 'running') printer.prompt()
  }

  take(line: string): void {
    const typed = {
      text: line.trim(),
      isAtPrompt: this.#session.printer.typed(),
      prompted: this.#prompted,
    }
    this.#prompted = null
    this.#busy += 1
    this.#last = this.#last.then(() => this.#perform(typed))
  }

  get #waiting(): readonly Approval[] {
    return this.#asked?.waiting ?? []
  }

  async #perform(typed: Typed): Promise<void> {
    const { say } = this.#session
    try {
      await this.#takeLine(typed)
    } catch (error) {
      say(errorText(error))
    }
    this.#busy -= 1
    if (this.#waiting.length > 0 || this.#session.phase() !== 'running') this.prompt()
  }

  async #takeLine({ text, isAtPrompt, prompted }: Typed): Promise<void> {
    const { say } = this.#session
    if (text === '/help') {
      for (const help of SESSION_HELP) say(help)
      return
    }
    if (text.startsWith('!')) {
      const steer = text.slice(1).trim()
      if (steer === '') say('(! alone says nothing: write a text behind it)')
      else await this.#send(steer, 'steer', false)
      return
    }
    if (prompted === null && this.#waiting.length === 0) {
      if (text !== '') await this.#send(text, 'queue', isAtPrompt)
      return
    }
    if (text.startsWith('>')) {
      const queued = text.slice(1).trim()
      if (queued === '') say('(> alone says nothing: write a text behind it)')
      else await this.#send(queued, 'queue', false)
      return
    }
    await this.#answer(text, prompted)
  }

  async #answer(text: string, prompted: string | null): Promise<void> {
    const { say } = this.#session
    const approval = this.#waiting.find(({ id }) => id === prompted)
    if (approval === undefined) {
      if (text !== '') say('(this answered nothing: the request was settled, or its prompt was not here yet)')
      return
    }
    const answer = typedAnswer(approval, text)
    if (answer.type === 'unclear') {
      if (text !== '') say(`(${answer.hint})`)
      return
    }
    const settled = await answerHere(this.#context, this.#reeve, approval.id, answer)
    this.#asked?.answered(approval.id)
    say(`(${settled})`)
  }

  async #send(text: string, mode: 'queue' | 'steer', isOnScreen: boolean): Promise<void> {
    const { pid, printer, say, phase, started } = this.#session
    const id = randomUUID()
    if (isOnScreen) printer.leaveOut(id)
    const how = mode === 'queue' && phase() === 'paused' ? 'run' : mode
    const answer = await this.#reeve.runAgent({ pid, id, ...typedContent(text), mode: how })
    if (answer.type !== 'admitted') started()
    else
      say(
        answer.mode === 'steer' ? '(it reads this before its next step)' : `(queued, number ${answer.place})`,
      )
  }
}

interface Typed {
  readonly text: string
  readonly isAtPrompt: boolean
  readonly prompted: string | null
}
