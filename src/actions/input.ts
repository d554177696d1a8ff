import { commandSpecOf } from '../command/command-spec.ts'
import { alreadyEnded, whileUp } from '../command/keeper-answer.ts'
import { RefusedError } from '../core/errors.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { isKind } from '../core/process/spec.ts'
import { refusal } from '../core/refusal.ts'
import { type ActionParts, type ActionsFor, permitOnProcess, readerFor } from './action.ts'
import { commandIn } from './command-in.ts'

type InputVerb = 'write' | 'submit' | 'closeInput' | 'resize'

export function inputActions(parts: ActionParts): ActionsFor<InputVerb> {
  const { commands } = parts
  const find = async (text: string, action: InputVerb) => {
    const record = await readerFor(parts, action)(text)
    await permitOnProcess(parts, action, 'write', record)
    const served = commandIn(commands, record)
    const keeper = served.keeperOf(record.pid)
    if (hasEnded(record)) throw new RefusedError(alreadyEnded(record))
    return { record, keeper, output: served.output }
  }
  const write = async (text: string, data: Uint8Array, seq: number | undefined, action: InputVerb) => {
    const { record, keeper, output } = await find(text, action)
    const { pid } = record
    const end = await output.length(record)
    const asked = { pid, seq: seq ?? null, data: Buffer.from(data).toString('base64') }
    const answer = await whileUp(record, keeper.ask('write', asked))
    switch (answer.type) {
      case 'written':
      case 'replayed':
        return { type: answer.type, bytes: answer.bytes, end }
      case 'full':
        throw new RefusedError(
          refusal(
            'input_full',
            `${pid} does not read its input: ${answer.waiting} bytes are buffered already.`,
            'Wait until it reads, or end it.',
          ),
        )
      default:
        throw new RefusedError(unwritable(record, answer.type))
    }
  }
  return {
    write: ({ pid, text, seq }) =>
      write(pid, typeof text === 'string' ? Buffer.from(text) : text, seq, 'write'),
    async submit({ pid, text, seq }) {
      const record = await readerFor(parts, 'submit')(pid)
      // A terminal's Enter is a carriage return; a pipe's line ends with a line feed.
      const enter = isKind(record, 'command') && commandSpecOf(record).pty ? '\r' : '\n'
      return write(pid, Buffer.from(`${text}${enter}`), seq, 'submit')
    },
    async closeInput({ pid }) {
      const { record, keeper } = await find(pid, 'closeInput')
      const { type } = await whileUp(record, keeper.ask('closeInput', { pid: record.pid }))
      if (type === 'closed') return { type }
      throw new RefusedError(unwritable(record, type))
    },
    async resize({ pid, cols, rows }) {
      const { record, keeper } = await find(pid, 'resize')
      const { type } = await whileUp(record, keeper.ask('resize', { pid: record.pid, cols, rows }))
      if (type === 'resized') return { type }
      if (type === 'ended') throw new RefusedError(alreadyEnded(record))
      throw new RefusedError(
        refusal('no_terminal', `${record.pid} has no terminal.`, 'Start it with pty: true to give it one.'),
      )
    },
  }
}

function unwritable(record: ProcessRecord, why: 'no_stdin' | 'closed' | 'ended') {
  if (why === 'ended') return alreadyEnded(record)
  if (why === 'closed')
    return refusal(
      'input_closed',
      `The input of ${record.pid} has been closed.`,
      'Start it again to write to it.',
    )
  return refusal(
    'no_input',
    `${record.pid} has no input to write to.`,
    "Start it with stdin: 'pipe', or with pty: true.",
  )
}
