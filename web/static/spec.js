/**
 * Starts Swagger UI with this node's own document. It contacts nobody else: no validator, no remote fonts. Its own deep
 * links log an error for every name with an underscore, so links to operations are handled here.
 */
window.addEventListener('DOMContentLoaded', () => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
  const frame = document.getElementById('swagger-ui');
  window.SwaggerUIBundle({
    url: '/v1/spec.json',
    domNode: frame,
    deepLinking: false,
    docExpansion: 'list',
    validatorUrl: null,
    tryItOutEnabled: true,
    // Its highlight colours are in the markup, and their contrast is below 4.5:1.
    syntaxHighlight: false,
    presets: [window.SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    onComplete: openLinkedOperation,
  });
  frame.addEventListener('click', (event) => {
    const operation = event.target.closest('.opblock-summary')?.closest('.opblock[id]');
    if (operation) history.replaceState(null, '', `#${operation.id}`);
  });
});

/** Opens the operation whose element the address bar names: `#operations-Tag-operation_id`. */
function openLinkedOperation() {
  const operation = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  operation?.querySelector('.opblock-summary-control')?.click();
  operation?.scrollIntoView();
}
