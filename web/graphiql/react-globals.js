// The script of GraphiQL finds React as a variable of the page.
import * as React from 'react';
import * as ReactDOM from 'react-dom';

Object.assign(window, { React, ReactDOM });
