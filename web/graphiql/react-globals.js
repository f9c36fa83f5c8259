// GraphiQL's script expects React as a global variable.
import * as React from 'react';
import * as ReactDOM from 'react-dom';

Object.assign(window, { React, ReactDOM });
