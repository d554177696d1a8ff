import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { FileTracker } from '../../src/agent/tools/files/file-tracker.ts'
import { putBack } from '../../src/agent/tools/files/put-back.ts'
import { hashOf } from '../../src/agent/tools/files/read-content.ts'
import type { FileWrite } from '../../src/core/files/file-write.ts'
import { planUndo } from '../../src/core/files/plan-undo.ts'
import { tempFolder } from '../temp-folder.ts'

const SEED = 20_261_119
const HISTORIES = 200
const FILES = ['a', 'b', 'deep/c', 'deep/d']
const TEXTS = ['', 'one', 'two', 'three', 'four']

const step = fc.record({
  file: fc.constantFrom(...FILES),
  by: fc.constantFrom('agent', 'agent', 'agent', 'other'),
  /** Null removes the file; only others do that. */
  text: fc.option(fc.constantFrom(...TEXTS), { freq: 5 }),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** What is known of a file by watching every change of it: the second opinion. */
interface Watched {
  /** Before the first change of the agent behind the target. */
  readonly before: string | null
  last: string | null
  /** Something else changed it since then, to another content than the agent had written. */
  isForeign: boolean
}

class History {
  readonly root = tempFolder()
  readonly blobs = new Map<string, Uint8Array>()
  readonly writes: FileWrite[] = []
  readonly watched = new Map<string, Watched>()

  at(file: string): string {
    return join(this.root, file)
  }

  text(file: string): string | null {
    return existsSync(this.at(file)) ? readFileSync(this.at(file), 'utf8') : null
  }

  /** `isBehind`: after the place that is gone back to. */
  play({ file, by, text }: Step, isBehind: boolean): void {
    const was = this.text(file)
    const now = by === 'agent' ? (text ?? 'made') : text
    const watched = this.watched.get(file)
    if (by === 'agent' && isBehind) {
      this.#record(file, was, now)
      if (watched === undefined) this.watched.set(file, { before: was, last: now, isForeign: false })
      else {
        watched.isForeign ||= was !== watched.last
        watched.last = now
      }
    }
    this.#put(file, now)
  }

  async undo() {
    const tracker = new FileTracker(NOTHING_SEEN, () => 0)
    const parts = {
      root: this.root,
      agent: 'p_azzzzzzzzzzz',
      tracker,
      isNamed: () => false,
      ruling: async () => ({ type: 'allow', rule: null, uses: [] }) as const,
      isHeld: async () => false,
      isPersons: true,
      blobs: {
        put: async (hash: string, bytes: Uint8Array) => void this.blobs.set(hash, bytes),
        get: async (hash: string) => this.blobs.get(hash) ?? null,
      },
    }
    const fates = new Map<string, string>()
    for (const undo of planUndo(this.writes)) {
      const answer = undo.type === 'left' ? undo : await putBack(parts, undo, { isDry: false })
      fates.set(undo.path, answer.type === 'left' ? answer.why : 'put back')
    }
    return fates
  }

  #record(file: string, was: string | null, now: string | null): void {
    const hash = (text: string | null) => (text === null ? null : hashOf(Buffer.from(text)))
    const before = hash(was)
    if (before !== null && was !== null) this.blobs.set(before, Buffer.from(was))
    this.writes.push({
      path: this.at(file),
      before,
      after: hash(now),
      ...(before === null ? {} : { kept: true }),
    })
  }

  #put(file: string, text: string | null): void {
    mkdirSync(dirname(this.at(file)), { recursive: true })
    if (text === null) rmSync(this.at(file), { force: true })
    else writeFileSync(this.at(file), text)
  }
}

const NOTHING_SEEN = { seenBy: async () => [], writerOf: async () => undefined }

test(`${HISTORIES} random edit histories: only what the agent wrote and nothing else has changed is put back, and all else is listed`, async () => {
  const reached = new Set<string>()
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 6 }),
    fc.array(step, { minLength: 1, maxLength: 14 }),
    async (before, behind) => {
      const history = new History()
      for (const one of before) history.play(one, false)
      for (const one of behind) history.play(one, true)
      const found = new Map(FILES.map((file) => [file, history.text(file)]))
      const fates = await history.undo()
      for (const file of FILES) {
        const watched = history.watched.get(file)
        const fate = fates.get(history.at(file))
        reached.add(fate ?? 'untouched')
        const isOwn = watched !== undefined && !watched.isForeign && found.get(file) === watched.last
        expect(history.text(file), file).toBe(isOwn ? watched.before : found.get(file))
        // A file that the agent changed is put back, is as it was, or is listed.
        if (watched === undefined) expect(fate).toBeUndefined()
        else if (watched.isForeign) expect(fate).toBe('changed_between')
        else if (!isOwn && found.get(file) !== watched.before && watched.last !== watched.before)
          expect(fate).toBe('changed_since')
        else if (isOwn && watched.before !== watched.last) expect(fate).toBe('put back')
      }
      // An undo is done once.
      const after = new Map(FILES.map((file) => [file, history.text(file)]))
      await history.undo()
      for (const file of FILES) expect(history.text(file)).toBe(after.get(file))
    },
  )
  await fc.assert(property, { numRuns: HISTORIES, seed: SEED })
  for (const fate of ['put back', 'changed_between', 'changed_since', 'untouched'])
    expect(reached).toContain(fate)
})
