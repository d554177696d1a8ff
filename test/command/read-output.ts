import type { Reeve } from 'reeve'

/** All that is kept of a command's output. */
export async function bytesOf(reeve: Pick<Reeve, 'output'>, pid: string): Promise<Buffer> {
  const pages: Uint8Array[] = []
  for (let offset = 0; ; ) {
    const page = await reeve.output({ pid, offset, limit: 1024 * 1024 })
    pages.push(page.bytes)
    offset = page.next
    if (page.bytes.length === 0 || offset >= page.end) return Buffer.concat(pages)
  }
}

/** The same as text. */
export async function textOf(reeve: Pick<Reeve, 'output'>, pid: string): Promise<string> {
  return (await bytesOf(reeve, pid)).toString('utf8')
}
