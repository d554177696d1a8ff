import { timingSafeEqual } from 'node:crypto'
import { createServer, type Server as NetServer, type Socket } from 'node:net'
import { messageOf, traceOf } from '../../base/error-text.ts'
import { isAlive } from '../../os/identity.ts'
import type { Programs } from '../programs.ts'
import { MAX_LINE_BYTES } from '../protocol/lines.ts'
import type { Ask, AskName, Asks, Tell } from '../protocol/messages.ts'
import type { KeeperIdentity } from '../protocol/program-state.ts'
import { answersOf, badAsk, Refused } from './asks.ts'
import { Connection } from './connection.ts'

export interface ServerOptions {
  readonly keeper: KeeperIdentity
  readonly token: string
  readonly programs: Programs
  /** Takes over the programs of other keepers. */
  recover(): Promise<void>
  /** A daemon has connected. */
  came(): void
  /** The connection of the daemon has ended. */
  went(): void
  /** The daemon has taken leave. */
  left(): void
  note(message: string): void
}

interface Daemon {
  readonly connection: Connection
  readonly osPid: number
  readonly startTime: string
  readonly id: string | undefined
}

/** Serves one daemon at a time. */
export class Server {
  readonly #options: ServerOptions
  readonly #answers: ReturnType<typeof answersOf>
  readonly #connections = new Set<Connection>()
  #net: NetServer | null = null
  #daemon: Daemon | null = null
  #isClosed = false

  constructor(options: ServerOptions) {
    this.#options = options
    this.#answers = answersOf(options.programs, options.recover)
  }

  get hasDaemon(): boolean {
    return this.#daemon !== null
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Moves the server to this path. Open connections stay open. */
  async listen(path: string): Promise<void> {
    const net = createServer((socket) => this.#connected(socket))
    await new Promise<void>((resolve, reject) => {
      net.once('error', reject)
      net.listen(path, resolve)
    })
    net.on('error', (error) => this.#options.note(`The socket: ${error.message}`))
    this.#net?.close()
    this.#net = net
    if (this.#isClosed) net.close()
  }

  tell(tell: Tell): void {
    this.#daemon?.connection.send(tell)
  }

  grew(pid: string, end: number): void {
    this.#daemon?.connection.grew(pid, end)
  }

  /** Answers are still delivered; new requests are ignored. */
  close(): void {
    this.#isClosed = true
    this.#net?.close()
    for (const connection of this.#connections) connection.close()
  }

  #connected(socket: Socket): void {
    const connection: Connection = new Connection(socket, {
      heard: (message) => void this.#heard(connection, message),
      tooLong: (start) => this.#tooLong(connection, start),
      broken: (error) => this.#cutOff(connection, messageOf(error)),
      closed: () => this.#disconnected(connection),
    })
    this.#connections.add(connection)
  }

  #disconnected(connection: Connection): void {
    this.#connections.delete(connection)
    if (this.#daemon?.connection !== connection) return
    this.#daemon = null
    this.#options.programs.unfollow()
    this.#options.went()
  }

  async #heard(connection: Connection, message: unknown): Promise<void> {
    if (this.#isClosed) return
    if (!isAsk(message)) {
      this.#cutOff(connection, 'it is no question')
      return
    }
    const { id } = message
    try {
      const answer = await this.#answer(connection, message)
      connection.send({ id, answer })
      if (message.ask === 'hello') this.#welcome(connection)
      if (message.ask === 'leave') this.#options.left()
    } catch (error) {
      if (error instanceof Refused) {
        connection.send({ id, error: error.refusal })
        if (this.#daemon?.connection !== connection) connection.close()
        return
      }
      this.#options.note(`${message.ask}: ${traceOf(error)}`)
      connection.send({ id, error: { code: 'failed', message: messageOf(error) } })
    }
  }

  /** Every request begins with its number, so that even a skipped line can be answered. */
  #tooLong(connection: Connection, start: string): void {
    const id = /^\{"id":(\d+),/.exec(start)?.[1]
    if (id === undefined || this.#daemon?.connection !== connection) {
      this.#cutOff(connection, `it has more than ${MAX_LINE_BYTES} bytes`)
      return
    }
    const message = `A question of more than ${MAX_LINE_BYTES} bytes is not read.`
    connection.send({ id: Number(id), error: { code: 'bad_ask', message } })
  }

  #cutOff(connection: Connection, why: string): void {
    const message = `The keeper could not read a line of a daemon's, and has closed the connection: ${why}.`
    this.#options.note(message)
    connection.send({ tell: 'trouble', pid: null, message })
    connection.cutOff()
  }

  #answer(connection: Connection, ask: Ask): Asks[AskName][1] | Promise<Asks[AskName][1]> {
    if (ask.ask === 'hello') return this.#hello(connection, ask)
    if (this.#daemon?.connection !== connection) throw badAsk('The first question is hello.')
    if (ask.ask === 'leave') return { stays: !this.#options.programs.isEmpty }
    const act = this.#answers[ask.ask] as
      | ((ask: Ask) => Asks[AskName][1] | Promise<Asks[AskName][1]>)
      | undefined
    if (act === undefined) throw badAsk(`There is no question ${String(ask.ask)}.`)
    return act(ask)
  }

  #hello(connection: Connection, { protocol, token, daemon }: Asks['hello'][0]): Asks['hello'][1] {
    const { keeper, programs } = this.#options
    if (protocol !== keeper.protocol)
      throw new Refused({
        code: 'wrong_protocol',
        message: `This keeper speaks protocol ${keeper.protocol}, not ${protocol}.`,
      })
    if (!isSame(token, this.#options.token))
      throw new Refused({ code: 'wrong_token', message: 'That is not the token of this keeper.' })
    const other = this.#daemon
    if (other !== null && other.connection !== connection) {
      // The former connection of this daemon is lost, without a close event so far.
      const isSameDaemon =
        other.osPid === daemon.osPid && other.startTime === daemon.startTime && other.id === daemon.id
      if (!isSameDaemon && isAlive(other.osPid, other.startTime))
        throw new Refused({
          code: 'busy',
          message: `A daemon with PID ${other.osPid} is connected.`,
          osPid: other.osPid,
        })
      programs.unfollow()
      other.connection.destroy()
    }
    this.#daemon = { connection, osPid: daemon.osPid, startTime: daemon.startTime, id: daemon.id }
    this.#options.came()
    return { keeper, programs: programs.states() }
  }

  /** Reports the programs that could not be taken over, and the ends that no daemon has acknowledged. */
  #welcome(connection: Connection): void {
    for (const { state, message } of this.#options.programs.untaken())
      connection.send({ tell: 'trouble', pid: state.pid, message })
    for (const state of this.#options.programs.settled()) connection.send({ tell: 'ended', state })
  }
}

function isAsk(message: unknown): message is Ask {
  if (typeof message !== 'object' || message === null) return false
  return (
    'id' in message && typeof message.id === 'number' && 'ask' in message && typeof message.ask === 'string'
  )
}

function isSame(given: unknown, token: string): boolean {
  if (typeof given !== 'string') return false
  const [one, other] = [Buffer.from(given), Buffer.from(token)]
  return one.length === other.length && timingSafeEqual(one, other)
}
