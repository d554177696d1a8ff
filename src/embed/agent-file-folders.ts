import { realpath } from 'node:fs/promises'
import type { AgentFile, AgentFileKind } from '../core/agent-file/agent-file.ts'
import type { AgentFileReader, ParsedImage } from '../kernel/agent-file-reader.ts'

/** The files that define something for agents, in folders of this machine. The code that reads them is loaded when it is needed. */
export class AgentFileFolders implements AgentFileReader {
  readonly #home: string | null

  /** `home`: the folder whose `skills/`, `agents/` and `commands/` are for all agents; null: there is none. */
  constructor(home: string | null) {
    this.#home = home
  }

  async find(folder: string | null, kind?: AgentFileKind): Promise<readonly AgentFile[]> {
    const { findAgentFiles } = await import('../agent-files/find-agent-files.ts')
    const real = folder === null ? null : await realpath(folder).catch(() => folder)
    return findAgentFiles(real, this.#home, kind)
  }

  async parseImage(text: string, file: string): Promise<ParsedImage> {
    const { parseImage } = await import('../agent-files/parse-image.ts')
    return parseImage(text, file)
  }
}
