/** The same session in LangGraph JS with its SQLite checkpointer: `<folder> <turn> <bytes of an answer> <bytes of an input>`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AIMessage, HumanMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'

const [folder = '', last = '0', answerBytes = '0', inputBytes = '0'] = process.argv.slice(2)
const lengths = [0.2, 0.4, 0.6, 0.8, 1, 1, 1.2, 1.4, 1.6, 1.8].map((part) => part * Number(answerBytes))
const prose = readFileSync(join(folder, 'prose.txt'), 'utf8')
let turns = 0
const checkpointer = SqliteSaver.fromConnString(join(folder, 'langgraph.db'))
const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', () => {
    const index = turns % lengths.length
    return { messages: [new AIMessage(prose.slice(index * 10_000, index * 10_000 + lengths[index]))] }
  })
  .addEdge(START, 'model')
  .addEdge('model', END)
  .compile({ checkpointer })
const config = { configurable: { thread_id: 'session' } }
const state = await graph.getState(config)
// A turn that a crash interrupted goes on from its last checkpoint.
if (state.next.length > 0) await graph.invoke(null, config)
turns = ((await graph.getState(config)).values.messages ?? []).filter((one) => one.getType() === 'ai').length
console.log(JSON.stringify({ resumed: turns }))
while (turns < Number(last)) {
  const begun = performance.now()
  const input = `answer ${turns % lengths.length}: ${prose.slice(turns * 100)}`.slice(0, Number(inputBytes))
  await graph.invoke({ messages: [new HumanMessage(input)] }, config)
  turns += 1
  console.log(JSON.stringify({ turn: turns, ms: performance.now() - begun }))
}
