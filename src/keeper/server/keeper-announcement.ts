import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, openSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../../base/error-text.ts'
import { type FileIdentity, fileAt, isFileAt, removeOwnFile } from '../../os/file-identity.ts'
import type { DataFolderPaths } from '../protocol/data-folder-paths.ts'
import type { KeeperIdentity } from '../protocol/program-state.ts'
import { removeFile } from '../remove-file.ts'
import type { Server } from './server.ts'

export interface KeeperAnnouncementOptions {
  readonly home: DataFolderPaths
  readonly server: Server
  readonly identity: KeeperIdentity
  note(message: string): void
}

/**
 * The two files by which daemons find this keeper: its socket and its identity. While it holds the lock of its folder, files
 * that are lost are recreated. If the folder was moved or removed, its path may belong to another keeper: files there that are not
 * this keeper's own are left alone.
 */
export class KeeperAnnouncement {
  readonly #options: KeeperAnnouncementOptions
  readonly #lock: FileIdentity | null
  #socket: FileIdentity | null = null
  #identity: FileIdentity | null = null
  #timer: NodeJS.Timeout | null = null
  #isLooking = false
  #failure: string | null = null

  /** Made while this keeper holds the lock. */
  constructor(options: KeeperAnnouncementOptions) {
    this.#options = options
    this.#lock = fileAt(options.home.keeper.lock)
  }

  /** From now on daemons find this keeper. */
  async show(): Promise<void> {
    const { socket } = this.#options.home.keeper
    // Drafts of killed keepers: the lock proves that they are dead.
    for (const name of readdirSync(dirname(socket)))
      if (name.startsWith(DRAFT)) removeFile(join(dirname(socket), name))
    await this.#makeSocket()
    this.#writeIdentity()
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref()
  }

  /** From now on daemons do not find this keeper. */
  withdraw(): void {
    const { home, server, note } = this.#options
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    server.close()
    try {
      removeOwnFile(home.keeper.socket, this.#socket)
      removeOwnFile(home.keeper.identity, this.#identity)
    } catch (error) {
      // The free lock shows that this keeper is gone, even if the files are still there.
      note(`The files of this keeper can't be removed: ${messageOf(error)}.`)
    }
  }

  async #look(): Promise<void> {
    const { home, note } = this.#options
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      if (!isFileAt(home.keeper.lock, this.#lock)) return
      if (!isFileAt(home.keeper.socket, this.#socket)) {
        note('The socket file was lost, and is made again.')
        await this.#makeSocket()
      }
      if (this.#timer !== null && !isFileAt(home.keeper.identity, this.#identity)) this.#writeIdentity()
      this.#failure = null
    } catch (error) {
      const failure = `The files of this keeper can't be made again: ${messageOf(error)}.`
      if (failure !== this.#failure) note(failure)
      this.#failure = failure
    } finally {
      this.#isLooking = false
    }
  }

  /**
   * It is made under a name of its own and then renamed: when a server closes, Node removes the name that it was given, which
   * by then may be another keeper's.
   */
  async #makeSocket(): Promise<void> {
    const { home, server } = this.#options
    const { socket } = home.keeper
    const draft = join(dirname(socket), `${DRAFT}${randomBytes(3).toString('hex')}`)
    if (Buffer.byteLength(draft) <= MAX_SOCKET_PATH_BYTES) await server.listen(draft)
    else await listenInFolder(draft, server)
    // Withdrawn in the meantime.
    if (server.isClosed) return
    chmodSync(draft, 0o600)
    renameSync(draft, socket)
    this.#socket = fileAt(socket)
  }

  #writeIdentity(): void {
    const { home, identity } = this.#options
    const draft = `${home.keeper.identity}.new`
    writeFileSync(draft, JSON.stringify(identity), { mode: 0o600 })
    renameSync(draft, home.keeper.identity)
    this.#identity = fileAt(home.keeper.identity)
  }
}

const LOOK_EVERY_MS = 1000

const DRAFT = 'socket.'

/** The system allows 107 bytes; some are left for other tools. */
const MAX_SOCKET_PATH_BYTES = 100

async function listenInFolder(path: string, server: Server): Promise<void> {
  const fd = openSync(dirname(path), 'r')
  try {
    await server.listen(`/proc/self/fd/${fd}/${basename(path)}`)
  } finally {
    closeSync(fd)
  }
}
