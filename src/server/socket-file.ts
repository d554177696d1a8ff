import { existsSync, renameSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { dirname, join } from 'node:path'
import { type FileIdentity, fileAt, removeOwnFile } from '../os/file-identity.ts'

/**
 * The file of a Unix socket, which only its owner can open. It is made under a temporary name and then renamed: when a server closes,
 * Node removes the name that it was given, and by then the path may be that of another server, because the folder was moved.
 */
export class SocketFile {
  readonly #path: string
  #file: FileIdentity | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** The file is made within the call, and is never accessible to another user. Errors are emitted by the server. */
  listen(server: Server): void {
    const isTaken = existsSync(this.#path)
    // Short, since the system limits the length of the whole path.
    const draft = join(dirname(this.#path), `.${process.pid.toString(36)}`)
    rmSync(draft, { force: true })
    const before = process.umask(0o177)
    try {
      server.listen({ path: isTaken ? this.#path : draft })
    } finally {
      process.umask(before)
    }
    if (isTaken || !existsSync(draft)) return
    renameSync(draft, this.#path)
    this.#file = fileAt(this.#path)
  }

  /** Removes the file if it is still this server's. */
  remove(): void {
    removeOwnFile(this.#path, this.#file)
  }
}
