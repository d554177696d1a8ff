import type { Wire } from '../model/wire.ts'

/** How a client reaches Reeve. */
export type Connection =
  | {
      readonly type: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly type: 'http'; readonly url: string; readonly token: string }

export interface Setup {
  /** An empty folder for all of the client's own files. */
  readonly home: string
  readonly modelUrl: string
  readonly connection: Connection
}

/** A program to start, with what its environment needs beyond HOME and PATH. */
export interface Launch {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** One real MCP client from npm. */
export interface Driver {
  readonly name: string
  readonly wire: Wire
  /** The program and its first arguments, below node_modules. */
  readonly program: readonly string[]
  /** Whether the client tells a server which folder it works in. */
  readonly tellsFolder: boolean
  /** A call that makes the client offer tools which it holds back at first. */
  readonly loadTools?: { readonly tool: string; readonly input: object }
  /** Writes the client's configuration, and says how to give it one prompt. */
  prepare(setup: Setup, prompt: string): Launch
}

/** As npm names the packages with native programs: `linux-x64`. */
export const PLATFORM = `${process.platform}-${process.arch}`
