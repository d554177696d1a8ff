import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { BoundedMap } from '../base/bounded-map.ts'
import { codeOf, messageOf } from '../base/error-text.ts'
import { commandLineNeeds } from '../command/resolve-action.ts'
import { foldersAbove, isUsableFolder, policyPathOf } from '../core/capability/in-workspace.ts'
import { type PolicyFileAnswer, parsePolicyFile } from '../core/capability/policy-file.ts'
import { ReeveError } from '../core/errors.ts'
import type { FolderPolicies, PolicyFileFound, PolicyFiles } from '../kernel/workspaces.ts'
import { HASHES } from './node-edges.ts'
import { foreignOwner } from './policy-owner.ts'

/** More than anyone writes by hand. */
const MAX_FILE_BYTES = 256 * 1024
/** More files than agents of one daemon work with at once. One that is evicted is read again. */
const MAX_FILES = 1_000
const MAX_ABSENT = 10_000

/** Codes of a file that is not there. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']

interface KnownFile {
  readonly signature: string
  readonly found: PolicyFileFound
  /** Another user wrote it: it is reported, and does not count. */
  readonly isForeign: boolean
}

/** The policy files of this machine. A file that has not changed is not read again: its times, size and inode are compared. */
export class PolicyFolder implements PolicyFiles {
  readonly #known = new BoundedMap<string, KnownFile>(MAX_FILES)
  /** When each file was last found to be absent. */
  readonly #absentAt = new BoundedMap<string, number>(MAX_ABSENT)
  readonly #onTrouble: (error: unknown, doing: string) => void
  readonly #now: () => number

  constructor(onTrouble: (error: unknown, doing: string) => void, now: () => number) {
    this.#onTrouble = onTrouble
    this.#now = now
  }

  get broken(): readonly PolicyFileFound[] {
    return [...this.#known.values()].map(({ found }) => found).filter(({ problems }) => problems.length > 0)
  }

  async look(asked: string, maxAgeMs = 0): Promise<FolderPolicies> {
    const folder = await realFolder(resolve(asked))
    const files = await Promise.all(foldersAbove(folder).map((one) => this.#file(one, maxAgeMs)))
    return { folder, files: files.filter((file) => file !== undefined) }
  }

  async #file(folder: string, maxAgeMs: number): Promise<PolicyFileFound | undefined> {
    const path = policyPathOf(folder)
    const now = this.#now()
    const absentAt = this.#absentAt.get(path)
    if (absentAt !== undefined && Math.abs(now - absentAt) < maxAgeMs) return undefined
    const read = await readIfChanged(path, this.#known.get(path)?.signature)
    if (read.type === 'absent') {
      this.#known.delete(path)
      this.#absentAt.set(path, now)
      return undefined
    }
    this.#absentAt.delete(path)
    const known = this.#known.get(path)
    // Another look was faster, or nothing has changed.
    if (read.type === 'unchanged' || known?.signature === read.signature) return counting(known)
    const foreign = await foreignOwner(folder, read.uid)
    const isForeign = foreign !== undefined
    const answer = isForeign ? notOurs(foreign) : isUsableFolder(folder) ? await answerOf(read) : UNUSABLE
    const found = { folder, path, hash: read.hash, since: this.#now(), ...answer }
    this.#known.set(path, { signature: read.signature, found, isForeign })
    const [first] = found.problems
    if (first !== undefined)
      this.#onTrouble(
        new ReeveError('policy_invalid', `${path}, line ${first.line}: ${first.message}`, first.remedy),
        'reading a policy file',
      )
    return isForeign ? undefined : found
  }
}

function counting(known: KnownFile | undefined): PolicyFileFound | undefined {
  return known?.isForeign === true ? undefined : known?.found
}

function notOurs(uid: number): PolicyFileAnswer {
  const message = `It does not count: it belongs to another user (uid ${uid}).`
  return { rules: [], problems: [{ line: 1, message, remedy: 'Change its owner, or remove it.' }] }
}

/** After symbolic links. Of a folder that is not there, the part that is. */
async function realFolder(absolute: string): Promise<string> {
  const parent = dirname(absolute)
  return realpath(absolute).catch(async () =>
    parent === absolute ? absolute : join(await realFolder(parent), basename(absolute)),
  )
}

type ReadFile =
  | { readonly type: 'absent' }
  | { readonly type: 'unchanged' }
  | {
      readonly type: 'read'
      readonly signature: string
      readonly hash: string
      /** Null if it could not be read. */
      readonly text: string | null
      readonly problem: string
      /** Of its owner; null if that is not known. */
      readonly uid: number | null
    }

/** Compares and reads through one handle, so that both are about the same file. */
async function readIfChanged(path: string, known: string | undefined): Promise<ReadFile> {
  try {
    // Without O_NONBLOCK a named pipe would wait for its writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = await file.stat({ bigint: true })
      const { dev, ino, size, mtimeNs, ctimeNs } = stat
      const uid = Number(stat.uid)
      const signature = [dev, ino, size, mtimeNs, ctimeNs].join(':')
      if (signature === known) return { type: 'unchanged' }
      if (!stat.isFile()) return unreadable(signature, 'It is no regular file.', uid)
      if (size > MAX_FILE_BYTES)
        return unreadable(signature, `It has more than ${MAX_FILE_BYTES} bytes.`, uid)
      const bytes = await file.readFile()
      const hash = createHash('sha256').update(bytes).digest('hex')
      return { type: 'read', signature, hash, text: bytes.toString('utf8'), problem: '', uid }
    } finally {
      await file.close()
    }
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (ABSENT.includes(code)) return { type: 'absent' }
    const signature = `unreadable ${code}`
    return signature === known
      ? { type: 'unchanged' }
      : unreadable(signature, `It cannot be read: ${messageOf(error)}.`, null)
  }
}

function unreadable(signature: string, problem: string, uid: number | null): ReadFile {
  return { type: 'read', signature, hash: '', text: null, problem, uid }
}

async function answerOf({ text, problem }: Extract<ReadFile, { type: 'read' }>): Promise<PolicyFileAnswer> {
  if (text === null)
    return { rules: [], problems: [{ line: 1, message: problem, remedy: 'Make it a readable file.' }] }
  // The parser of command lines is large; most files have no examples.
  const needsOf = /"(?:non)?match"/.test(text) ? await commandLineNeeds() : () => []
  return parsePolicyFile(text, needsOf, HASHES.hash)
}

const UNUSABLE: PolicyFileAnswer = {
  rules: [],
  problems: [
    {
      line: 1,
      message: 'The path of its folder has a character that rules take for a wildcard.',
      remedy: 'Rename the folder, or remove the file.',
    },
  ],
}
