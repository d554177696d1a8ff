import type { IEvent, IPty } from '@lydell/node-pty'

/**
 * A terminal that was opened without an encoding. The library's types say text, but it then takes and gives bytes; and its
 * private members tell what its interface does not.
 */
export interface BytePty extends Omit<IPty, 'onData' | 'write'> {
  readonly onData: IEvent<Buffer>
  write(bytes: Buffer): void
  /** The path of the program's end. */
  readonly _pty?: string
  readonly _socket?: { readonly writableLength?: number }
}
