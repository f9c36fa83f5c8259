// GraphiQL, which the indexer's listener serves at `/`, so its queries go to the same origin.
import './react-globals.js';
import 'graphiql/graphiql.min.js';
import 'graphiql/graphiql.min.css';
import './page.css';

import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

const { GraphiQL } = window;
const FIRST_QUERY = `# The tables of the public indexer: docs/indexer.md
{
  processor_status {
    processor
    last_success_version
  }
}
`;

const fetcher = GraphiQL.createFetcher({ url: '/v1/graphql' });
const page = createElement(GraphiQL, { fetcher, defaultQuery: FIRST_QUERY });
createRoot(document.getElementById('graphiql')).render(page);
