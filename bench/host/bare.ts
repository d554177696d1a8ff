/**
 * The floor: Node and the PTY library run a program, write its output to a file and notice its end. Without a record,
 * bounds, or anything that outlives this OS process.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, createWriteStream, openSync } from 'node:fs'
import pty, { type IPty } from '@lydell/node-pty'

/** The program writes into the file itself. Resolves when it has ended. */
export async function runIntoFile(line: string, file: string): Promise<void> {
  const fd = openSync(file, 'a')
  const child = spawn('/bin/sh', ['-c', line], { detached: true, stdio: ['ignore', fd, fd] })
  closeSync(fd)
  await once(child, 'exit')
}

export interface BarePipe {
  readonly firstByte: Promise<unknown>
  readonly exited: Promise<unknown>
  /** It has ended, and all is in the file. */
  readonly stored: Promise<unknown>
  /** The needle was seen. */
  readonly found: Promise<unknown>
}

/** This OS process reads a pipe, appends to the file, and searches for a needle if one is given. */
export function runThroughPipe(line: string, file: string, needle?: string): BarePipe {
  const sink = createWriteStream(file, { flags: 'a' })
  const child = spawn('/bin/sh', ['-c', line], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const found = needle === undefined ? Promise.resolve() : seen(needle, child)
  child.stdout.pipe(sink, { end: false })
  child.stderr.pipe(sink, { end: false })
  const stored = once(child, 'close').then(() => {
    sink.end()
    return once(sink, 'finish')
  })
  return { firstByte: once(child.stdout, 'data'), exited: once(child, 'exit'), stored, found }
}

/** Searches each chunk, and across the border to the previous one. */
function seen(needle: string, { stdout }: ChildProcess): Promise<void> {
  const wanted = Buffer.from(needle)
  let tail: Buffer = Buffer.alloc(0)
  return new Promise((resolve) => {
    const look = (chunk: Buffer) => {
      const border = Buffer.concat([tail, chunk.subarray(0, wanted.length - 1)])
      if (border.includes(wanted) || chunk.includes(wanted)) {
        stdout?.off('data', look)
        resolve()
      }
      tail = chunk.subarray(Math.max(0, chunk.length - wanted.length + 1))
    }
    stdout?.on('data', look)
  })
}

/** With the library's own flow control. Resolves when it has ended, and all is in the file. */
export async function runInTerminal(line: string, file: string): Promise<void> {
  const sink = createWriteStream(file, { flags: 'a' })
  const terminal: IPty = pty.spawn('/bin/sh', ['-c', line], {
    name: 'xterm-256color',
    cols: 120,
    rows: 30,
    encoding: null,
  })
  terminal.onData((data) => {
    if (sink.write(data)) return
    terminal.pause()
    sink.once('drain', () => terminal.resume())
  })
  await new Promise((resolve) => {
    terminal.onExit(resolve)
  })
  sink.end()
  await once(sink, 'finish')
}
