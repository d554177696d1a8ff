import type { Readable } from 'node:stream'
import type { Surroundings } from './context.ts'
import { UsageError } from './usage-error.ts'

type Keyboard = Readable & { setRawMode?(isRaw: boolean): void }

const ENTER = new Set(['\r', '\n', '\u0004'])
const ERASE = new Set(['\u007f', '\b'])
const ERASE_ALL = '\u0015'
const CANCEL = '\u0003'

/**
 * Reads the value of a secret: typed at a terminal, without echo, or all of standard input without its last newline. Never from an
 * argument: every user of the machine can read those.
 */
export async function readSecret(around: Surroundings, name: string): Promise<string> {
  const { stdin, stderr } = around
  if (stdin.isTTY !== true) return (await textOf(stdin)).replace(/\r?\n$/, '')
  const keyboard: Keyboard = stdin
  // Before the prompt: a key that is pressed as soon as the prompt appears must not be echoed.
  keyboard.setRawMode?.(true)
  try {
    stderr.write(`Value of ${name}: `)
    return await typed(keyboard)
  } finally {
    keyboard.setRawMode?.(false)
    stderr.write('\n')
    keyboard.pause()
  }
}

async function textOf(stdin: Readable): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of stdin) pieces.push(Buffer.from(piece as Uint8Array))
  return Buffer.concat(pieces).toString('utf8')
}

function typed(keyboard: Keyboard): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let value = ''
  const decoder = new TextDecoder()
  const heard = (piece: Uint8Array) => {
    for (const character of decoder.decode(piece, { stream: true })) {
      if (ENTER.has(character)) return resolve(value)
      if (character === CANCEL)
        return reject(new UsageError('Nothing was set.', 'Type the value, and press Enter.'))
      if (ERASE.has(character)) value = [...value].slice(0, -1).join('')
      else if (character === ERASE_ALL) value = ''
      else value += character
    }
  }
  keyboard.on('data', heard)
  keyboard.once('end', () => resolve(value))
  keyboard.resume()
  return promise.finally(() => keyboard.off('data', heard))
}
