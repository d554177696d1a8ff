import { type InputRequests, type InputRequiredResult, inputRequired } from '@modelcontextprotocol/server'

/** Thrown when a client of the modern era must answer first. It then repeats the call, with its answers. */
export class InputRequired extends Error {
  readonly question: InputRequiredResult

  constructor(inputRequests: InputRequests) {
    super('The client must answer first.')
    this.question = inputRequired({ inputRequests })
  }
}
